/** Reads the transcripts that hosts write of their sessions: one JSON object per line, each with the `timestamp` of its entry. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { Transcript } from './host.ts';

export type Entry = Readonly<Record<string, unknown>>;

/** The number of bytes that are read from a file's end. A file grows to many megabytes, and recent entries are at the end. */
const TAIL_BYTES = 1024 * 1024;

/**
 * Makes a reader of transcripts. `isGiven` returns whether the model reads an entry and did not write it itself. `asKept` returns
 * the form in which the host stores Earpiece's text. Default: the unchanged text.
 */
export function transcriptOf({
  isGiven,
  ofSession,
  asKept = (text) => text,
}: Pick<Transcript, 'ofSession'> & {
  readonly isGiven: (entry: Entry) => boolean;
  readonly asKept?: (text: string) => string;
}): Transcript {
  const isGivenSince = (line: string, since: number): boolean => {
    try {
      const entry = JSON.parse(line) as Entry;
      const { timestamp } = entry;
      return typeof timestamp === 'string' && Date.parse(timestamp) >= since && isGiven(entry);
    } catch {
      // The line is incomplete, because the tail begins within it or the host is still writing it.
      return false;
    }
  };
  return {
    ofSession,
    givenSince(file, since) {
      const lines = tailOf(file)?.split('\n');
      if (lines === undefined) return undefined;
      return (text) => {
        const written = JSON.stringify(asKept(text)).slice(1, -1);
        return lines.some((line) => line.includes(written) && isGivenSince(line, since));
      };
    },
  };
}

/** Returns the last part of a file; undefined if the file cannot be read. */
export function tailOf(file: string): string | undefined {
  let opened: number | undefined;
  try {
    // The path comes from the host's input, and opening a pipe without a writer would block the hook.
    opened = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const about = fstatSync(opened);
    if (!about.isFile()) return undefined;
    const from = Math.max(0, about.size - TAIL_BYTES);
    const bytes = Buffer.alloc(about.size - from);
    return bytes.toString('utf8', 0, readSync(opened, bytes, 0, bytes.length, from));
  } catch {
    return undefined;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}
