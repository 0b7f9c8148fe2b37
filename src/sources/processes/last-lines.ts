/**
 * Keeps the last lines of a command's output in bounded memory. Each stream is decoded and split into lines separately, so that a
 * character or a line that arrives in several pieces is joined. Blank lines are left out.
 */
import { StringDecoder } from 'node:string_decoder';
import { clean } from '../../handles/text.ts';

/** The maximum number of characters of a line that are kept. */
const PENDING_CHARS = 8_192;
/** The maximum number of characters of a line that `read` returns. */
const LINE_CHARS = 400;
/** The maximum number of characters of all lines together. */
const TOTAL_CHARS = 80_000;

export class LastLines {
  readonly #lines: number;
  readonly #raw: string[] = [];
  readonly #pending: (() => string)[] = [];

  constructor(lines: number) {
    this.#lines = lines;
  }

  /** Returns a function that takes the bytes of one of the command's streams. The bytes may arrive in any pieces. */
  stream(): (chunk: Buffer) => void {
    const decoder = new StringDecoder('utf8');
    let pending = '';
    this.#pending.push(() => pending);
    return (chunk) => {
      const parts = (pending + decoder.write(chunk)).split('\n');
      pending = (parts.pop() ?? '').slice(-PENDING_CHARS);
      // Some of these lines may be blank, so more lines are kept than wanted.
      for (const line of parts.slice(-4 * this.#lines)) this.#raw.push(line.slice(-PENDING_CHARS));
      if (this.#raw.length > 8 * this.#lines) this.#raw.splice(0, this.#raw.length - 4 * this.#lines);
    };
  }

  /** Drops the complete lines that were kept so far. */
  forget(): void {
    this.#raw.length = 0;
  }

  /** Returns the lines as a terminal shows them: without escape sequences, and with progress bars in their last state. */
  read(): readonly string[] {
    if (this.#lines === 0) return [];
    const lines = [...this.#raw, ...this.#pending.map((pending) => pending())]
      .map((line) => clean(line).trimEnd().toWellFormed())
      .filter((line) => line.trim() !== '')
      .map((line) => (isText(line) ? line : BINARY))
      .filter((line, at, all) => line !== BINARY || all[at - 1] !== BINARY)
      .slice(-this.#lines)
      .map((line) => (line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS - 1).toWellFormed()}…` : line));
    let chars = 0;
    const from = lines.findLastIndex((line) => (chars += line.length) > TOTAL_CHARS);
    return lines.slice(from + 1);
  }
}

/** The text in place of binary output. Binary output costs a model about a token per byte, and is useless to a reader. */
const BINARY = '(no text)';
const isText = (line: string): boolean => line.split('\ufffd').length - 1 <= line.length / 8;
