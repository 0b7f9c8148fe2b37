/** Writes and reads append-only files of JSON lines. The checker reads the files when all processes have ended. */
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Returns milliseconds of the machine's monotonic clock, which all its processes share. */
export const now = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Writes each line to the file at once, so a `kill -9` loses at most the line in progress. */
export class Journal<Line extends object> {
  readonly #file: number;

  constructor(path: string) {
    mkdirSync(dirname(path), { recursive: true });
    this.#file = openSync(path, 'a', 0o600);
  }

  write(line: Line): void {
    let bytes = Buffer.from(`${JSON.stringify(line)}\n`);
    while (bytes.length > 0) bytes = bytes.subarray(writeSync(this.#file, bytes));
  }

  /** Returns when the disk has the lines. */
  sync(): void {
    fsyncSync(this.#file);
  }

  close(): void {
    closeSync(this.#file);
  }
}

/** Returns the lines of a journal, without a last line that a kill has cut off. */
export function readJournal<Line>(path: string): Line[] {
  const text = readFileSync(path, 'utf8');
  const lines = text.split('\n');
  if (lines.pop() !== '') lines.push('');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Line);
}
