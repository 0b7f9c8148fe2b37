/**
 * Keeps the last lines of a command's output in bounded memory. Each stream is decoded and split into lines separately, so that a
 * character or a line in several pieces is joined again. Blank lines are left out.
 */
import { StringDecoder } from 'node:string_decoder';
import { clean } from '../../handles/text.ts';

/** The most characters that are kept of an unfinished line, and shown of any line. */
const PENDING_CHARS = 8_192;
const LINE_CHARS = 400;
/** The most characters of all lines together. */
const TOTAL_CHARS = 80_000;

export class LastLines {
  readonly #lines: number;
  readonly #raw: string[] = [];
  readonly #pending: (() => string)[] = [];

  constructor(lines: number) {
    this.#lines = lines;
  }

  /** Returns a function for the bytes of one of the command's streams. The bytes may come in any pieces. */
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

  /** The lines as a terminal shows them: without escape sequences, and a progress bar in its last state. */
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

/** Shown in place of binary output, which is useless to a reader and costs a model about a token per byte. */
const BINARY = '(no text)';
const isText = (line: string): boolean => line.split('\ufffd').length - 1 <= line.length / 8;
