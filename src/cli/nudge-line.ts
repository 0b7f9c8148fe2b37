/**
 * Types a line into an agent's input box. The person's keys wait until the agent has accepted the line. If the agent does not
 * accept the line, Earpiece erases the line before the next key, so the person's text never joins the line.
 */

/**
 * The time between a key and Enter. If Enter follows a key within 30 ms, Gemini CLI treats Enter as pasted text. Other agents
 * have similar limits. After such an Enter, the text stays in the input box, unsent.
 */
const ENTER_AFTER_MS = 150;
/** How long keys wait after Enter for the turn to begin, in ms. The start of a turn includes the start of the prompt hook. */
const TURN_SOON_MS = 1_000;
const LOOK_EVERY_MS = 20;
const ENTER = 13;
const BACKSPACE = '\u007F';
/**
 * Ctrl+C as a byte, and as the sequences of two keyboard protocols. CapsLock adds 64 to the number of the modifiers, and NumLock
 * adds 128.
 */
const CTRL_C = ['\u0003', '\u001B[27;5;99~', ...[5, 69, 133, 197].map((modifiers) => `\u001B[99;${modifiers}u`)];

type Keys = Uint8Array | string;
type Line = { readonly text: string; readonly isTaken: () => boolean; enters: number };
/** `erased`: the line is no longer in the input box, and the agent has not accepted it. */
export type Sent = 'sent' | 'erased';

export class NudgeLine {
  readonly #write: (keys: Keys) => void;
  /** The line that may still be in the input box. */
  #line: Line | undefined;
  #holds = false;
  #held: Uint8Array[] = [];

  constructor(write: (keys: Keys) => void) {
    this.#write = write;
  }

  /**
   * Returns whether these keys of the person are held. If not, erases the line unless the agent has accepted it, and the caller
   * passes the keys on at once.
   */
  keeps(keys: Uint8Array): boolean {
    const text = Buffer.from(keys).toString('latin1');
    const stops = CTRL_C.some((each) => text.includes(each));
    if (this.#holds && !stops) {
      this.#held.push(keys);
      return true;
    }
    this.#holds = false;
    this.#erase();
    for (const each of this.#held.splice(0)) this.#write(each);
    return false;
  }

  /**
   * Types the line, and then Enter if `isReady` returns true. `isTaken` returns whether the agent has begun a turn since the line
   * was typed.
   */
  async send(text: string, { isReady, isTaken }: { isReady: () => boolean; isTaken: () => boolean }): Promise<Sent> {
    const line: Line = { text, isTaken, enters: 0 };
    this.#line = line;
    this.#holds = true;
    this.#write(text);
    await pause(ENTER_AFTER_MS);
    if (isReady()) return this.enter();
    this.#erase();
    await this.#passOn();
    return 'erased';
  }

  /** Presses Enter, and waits at most 1 s for the turn. */
  async enter(): Promise<Sent> {
    const line = this.#line;
    if (line === undefined) return 'erased';
    this.#holds = true;
    line.enters += 1;
    this.#write('\r');
    for (let ms = 0; ms < TURN_SOON_MS && this.#line === line && !line.isTaken(); ms += LOOK_EVERY_MS) await pause(LOOK_EVERY_MS);
    const isTaken = line.isTaken();
    if (isTaken) this.#line = undefined;
    else if (this.#held.length > 0) this.#erase();
    const sent = isTaken || this.#line === line;
    await this.#passOn();
    return sent ? 'sent' : 'erased';
  }

  /** Erases the line unless the agent has accepted it. */
  #erase(): void {
    const line = this.#line;
    this.#line = undefined;
    // Each Enter that the agent did not accept is a line break in the box. Backspaces in an empty box change nothing.
    if (line !== undefined && !line.isTaken()) this.#write(BACKSPACE.repeat(line.text.length + line.enters));
  }

  /** Passes on the held keys. An Enter after other keys waits, because the agent would treat it as pasted text. */
  async #passOn(): Promise<void> {
    for (let isFirst = true; this.#held.length > 0; isFirst = false) {
      if (!isFirst && this.#held[0]?.[0] === ENTER) await pause(ENTER_AFTER_MS);
      // If the person pressed Ctrl+C during this wait, `keeps` has passed on all held keys, so the list is empty.
      const keys = this.#held.shift();
      if (keys !== undefined) this.#write(keys);
    }
    this.#holds = false;
  }
}

const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
