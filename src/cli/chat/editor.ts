/**
 * Edits the text that a person types. The editor has a history, accepts several lines (by paste, Alt+Enter or Ctrl+J), and draws
 * nothing.
 */
import { widthOf } from '../table.ts';
import { safe } from './wrap.ts';

/** A key as `node:readline` reports it. */
export type Key = { readonly name?: string; readonly ctrl?: boolean; readonly meta?: boolean; readonly sequence?: string };

const SEGMENTS = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

export class Editor {
  #before = '';
  #after = '';
  #history: string[];
  /** The position in the history. If the position equals the length of the history, the person is typing a new text. */
  #at: number;
  #typed = '';
  #pasting = false;

  constructor(history: readonly string[] = []) {
    this.#history = [...history];
    this.#at = this.#history.length;
  }

  get text(): string {
    return this.#before + this.#after;
  }

  set text(text: string) {
    this.#before = text;
    this.#after = '';
  }

  /**
   * Returns the typed text, and empties the editor. The history gets the text, unless the text is blank or equals the last text
   * of the history.
   */
  take(): string {
    const { text } = this;
    if (text.trim() !== '' && this.#history.at(-1) !== text) this.#history.push(text);
    this.#at = this.#history.length;
    this.text = '';
    return text;
  }

  /** Handles a key. Returns `submit` for Enter, and `unknown` for a key without a function in the editor. */
  key(typed: string | undefined, key: Key): 'changed' | 'submit' | 'unknown' {
    const { name, ctrl = false, meta = false } = key;
    if (name === 'paste-start' || name === 'paste-end') {
      this.#pasting = name === 'paste-start';
      return 'changed';
    }
    if (name === 'return' && !meta && !this.#pasting) return 'submit';
    if (name === 'return' || name === 'enter') return this.insert('\n');
    if (this.#pasting && typed !== undefined) return this.insert(typed);
    const does = (ctrl ? CONTROL : meta ? META : PLAIN)[name ?? ''];
    if (does !== undefined) {
      does(this);
      return 'changed';
    }
    if (ctrl) return 'unknown';
    if (meta || typed === undefined || typed === '') return 'unknown';
    // oxlint-disable-next-line no-control-regex -- these keys are not text
    return /^[\u0000-\u001f\u007f]/u.test(typed) && typed !== '\t' ? 'unknown' : this.insert(typed);
  }

  /**
   * Returns the rows of the text, wrapped after `prompt` and indented to the width of the prompt. If there are more than `most`
   * rows, `most` rows are returned, and the row of the cursor is one of them.
   */
  view(prompt: string, width: number, most: number): { rows: string[]; cursor: { row: number; column: number } } {
    const indent = widthOf(prompt);
    const room = Math.max(4, width - indent);
    const rows: string[] = [''];
    let used = 0;
    let cursor = { row: 0, column: indent };
    const put = (text: string): void => {
      for (const [i, line] of text.split('\n').entries()) {
        if (i > 0) {
          rows.push('');
          used = 0;
        }
        for (const { segment } of SEGMENTS.segment(safe(line))) {
          const wide = widthOf(segment);
          if (used + wide > room) {
            rows.push('');
            used = 0;
          }
          rows[rows.length - 1] += segment;
          used += wide;
        }
      }
    };
    put(this.#before);
    if (used === room) {
      rows.push('');
      used = 0;
    }
    cursor = { row: rows.length - 1, column: indent + used };
    put(this.#after);
    const first = Math.max(0, Math.min(cursor.row - most + 1, rows.length - most));
    const shown = rows.slice(first, first + most).map((row, i) => `${i === 0 ? prompt : ' '.repeat(indent)}${row}`);
    return { rows: shown, cursor: { row: cursor.row - first, column: cursor.column } };
  }

  insert(text: string): 'changed' {
    this.#before += text.replaceAll(/\r\n?/gu, '\n');
    return 'changed';
  }

  move(by: 1 | -1): void {
    const { text } = this;
    const to = by < 0 ? withoutLast(this.#before).length : text.length - withoutFirst(this.#after).length;
    this.#goTo(to);
  }

  moveWord(by: 1 | -1): void {
    const { text } = this;
    this.#goTo(by < 0 ? this.#before.replace(/\S+\s*$/u, '').length : text.length - this.#after.replace(/^\s*\S+/u, '').length);
  }

  /** Moves to the beginning or the end of the line. */
  moveFar(by: 1 | -1): void {
    const end = this.#after.indexOf('\n');
    if (by < 0) this.#goTo(this.#before.lastIndexOf('\n') + 1);
    else this.#goTo(end < 0 ? this.text.length : this.#before.length + end);
  }

  rub(): void {
    this.#before = withoutLast(this.#before);
  }

  rubWord(): void {
    this.#before = this.#before.replace(/\S+\s*$/u, '');
  }

  rubBefore(): void {
    this.#before = '';
  }

  rubAfter(): void {
    this.#after = '';
  }

  delete(): void {
    this.#after = withoutFirst(this.#after);
  }

  past(by: 1 | -1): void {
    const to = this.#at + by;
    if (to < 0 || to > this.#history.length) return;
    if (this.#at === this.#history.length) this.#typed = this.text;
    this.#at = to;
    this.text = to === this.#history.length ? this.#typed : (this.#history[to] ?? '');
  }

  #goTo(at: number): void {
    const { text } = this;
    this.#before = text.slice(0, at);
    this.#after = text.slice(at);
  }
}

type Does = (editor: Editor) => void;

const PLAIN: Readonly<Record<string, Does>> = {
  left: (editor) => editor.move(-1),
  right: (editor) => editor.move(1),
  home: (editor) => editor.moveFar(-1),
  end: (editor) => editor.moveFar(1),
  up: (editor) => editor.past(-1),
  down: (editor) => editor.past(1),
  backspace: (editor) => editor.rub(),
  delete: (editor) => editor.delete(),
};

/** The functions of keys with Ctrl. Most are as in a shell. */
const CONTROL: Readonly<Record<string, Does>> = {
  a: (editor) => editor.moveFar(-1),
  e: (editor) => editor.moveFar(1),
  b: (editor) => editor.move(-1),
  f: (editor) => editor.move(1),
  p: (editor) => editor.past(-1),
  n: (editor) => editor.past(1),
  h: (editor) => editor.rub(),
  d: (editor) => editor.delete(),
  u: (editor) => editor.rubBefore(),
  k: (editor) => editor.rubAfter(),
  w: (editor) => editor.rubWord(),
  j: (editor) => void editor.insert('\n'),
  left: (editor) => editor.moveWord(-1),
  right: (editor) => editor.moveWord(1),
};

const META: Readonly<Record<string, Does>> = {
  left: (editor) => editor.moveWord(-1),
  right: (editor) => editor.moveWord(1),
  b: (editor) => editor.moveWord(-1),
  f: (editor) => editor.moveWord(1),
  backspace: (editor) => editor.rubWord(),
};

const withoutLast = (text: string): string =>
  text.slice(0, text.length - ([...SEGMENTS.segment(text)].at(-1)?.segment.length ?? 0));
const withoutFirst = (text: string): string => text.slice([...SEGMENTS.segment(text)][0]?.segment.length ?? 0);
