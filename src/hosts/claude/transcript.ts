/**
 * Claude Code's file of a session, `projects/<folder>/<session>.jsonl`. Measured with 2.1.330: a hook's context, a refusal and a
 * wake are in it at most 50 ms after the request that holds them; a wake that waits is a `queue-operation` until then.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Transcript } from '../host.ts';

/** A file grows to many megabytes; what was just given is at its end. */
const TAIL_BYTES = 1024 * 1024;
/** Entries that are not given to the model, or come from it. */
const NOT_GIVEN: ReadonlySet<unknown> = new Set(['assistant', 'queue-operation', 'summary', 'file-history-snapshot']);

export const transcript: Transcript = {
  givenSince(file, since) {
    const tail = tailOf(file);
    if (tail === undefined) return undefined;
    const lines = tail.split('\n');
    return (text) => {
      const written = JSON.stringify(text).slice(1, -1);
      return lines.some((line) => line.includes(written) && isGiven(line, since));
    };
  },
  ofSession: (file, session) => join(dirname(file), `${session}.jsonl`),
};

function isGiven(line: string, since: number): boolean {
  try {
    const { type, timestamp } = JSON.parse(line) as { readonly type?: unknown; readonly timestamp?: unknown };
    return !NOT_GIVEN.has(type) && typeof timestamp === 'string' && Date.parse(timestamp) >= since;
  } catch {
    // Half a line: the tail begins in it, or the host is writing it.
    return false;
  }
}

function tailOf(file: string): string | undefined {
  let opened: number | undefined;
  try {
    opened = openSync(file, 'r');
    const about = fstatSync(opened);
    if (!about.isFile()) return undefined;
    const from = Math.max(0, about.size - TAIL_BYTES);
    const bytes = Buffer.alloc(about.size - from);
    const n = readSync(opened, bytes, 0, bytes.length, from);
    return bytes.toString('utf8', 0, n);
  } catch {
    return undefined;
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}
