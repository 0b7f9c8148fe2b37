/**
 * The last lines of what a command writes, however much that is. Each stream is decoded and cut into lines by itself, so a
 * character or a line that comes in pieces is whole here; what is blank is left out.
 */
import { StringDecoder } from 'node:string_decoder';
import { clean } from '../../handles/text.ts';

/** So much of a line without end is kept while it grows, and so much of a line is shown. */
const PENDING_CHARS = 8_192;
const LINE_CHARS = 400;
/** All lines together. */
const TOTAL_CHARS = 80_000;

export class LastLines {
  readonly #lines: number;
  readonly #raw: string[] = [];
  readonly #pending: (() => string)[] = [];

  constructor(lines: number) {
    this.#lines = lines;
  }

  /** One of the command's streams. Takes bytes as they come. */
  stream(): (chunk: Buffer) => void {
    const decoder = new StringDecoder('utf8');
    let pending = '';
    this.#pending.push(() => pending);
    return (chunk) => {
      const parts = (pending + decoder.write(chunk)).split('\n');
      pending = (parts.pop() ?? '').slice(-PENDING_CHARS);
      // Blank ones may be among them: somewhat more than are wanted.
      for (const line of parts.slice(-4 * this.#lines)) this.#raw.push(line.slice(-PENDING_CHARS));
      if (this.#raw.length > 8 * this.#lines) this.#raw.splice(0, this.#raw.length - 4 * this.#lines);
    };
  }

  /** As people read them: no escape sequences, a progress bar as its last state. */
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

/** What is no text says nothing to anybody, and costs a model a token a byte. */
const BINARY = '(no text)';
const isText = (line: string): boolean => line.split('\ufffd').length - 1 <= line.length / 8;
