/**
 * Tracks whether an agent's input box may contain text that the person has typed but not sent. The person may type while the
 * agent works, so the text can be older than the end of the turn.
 */
import { stripVTControlCharacters } from 'node:util';

const ESCAPE = '\u001B';
/** The key that recalls an earlier prompt into the box. */
const UP = `${ESCAPE}[A`;
/** The last characters of keys that leave the box empty: Enter and Ctrl+C. */
const EMPTIES = ['\r', '\u0003'];
/** Matches input that no person has typed, without its escape character: a move of the mouse, or a report of the terminal. */
const REPORT = /^(?:\[<[\d;]+[Mm]|P.*|\\)/s;

export class Draft {
  isOpen = false;

  press(keys: Uint8Array): void {
    const pressed = Buffer.from(keys).toString();
    const [first = '', ...sequences] = pressed.split(ESCAPE);
    const others = sequences.map((each) => (REPORT.test(each) ? each.replace(REPORT, '') : `${ESCAPE}${each}`));
    const text = stripVTControlCharacters([first, ...others].join('')).replaceAll(ESCAPE, '');
    if (text !== '') this.isOpen = !EMPTIES.some((end) => text.endsWith(end));
    else if (pressed.includes(UP)) this.isOpen = true;
  }
}
