import { createHmac, randomFillSync } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import type { LogKey } from '../core/address.ts';
import type { Ids } from '../core/ports.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * Makes ids of the prefix, an underscore, 10 characters for the time and 10 random characters. The ids sort by time and cannot be
 * guessed.
 */
export const randomIds: Ids = {
  make(prefix) {
    return `${prefix}_${timeHead(Date.now())}${letters(random(10))}`;
  },
};

let newest = { time: Number.NaN, head: '' };

/** Returns the time part of an id. The part is cached, because many ids are made in one millisecond. */
function timeHead(time: number): string {
  if (time === newest.time) return newest.head;
  let head = '';
  for (let left = time, i = 0; i < 10; i++) {
    head = ALPHABET.charAt(left % 32) + head;
    left = Math.floor(left / 32);
  }
  newest = { time, head };
  return head;
}

/** Random bytes for 400 ids, because one system call for each id would cost more than the rest of the work. */
const pool = new Uint8Array(4_000);
let used = pool.length;

function random(bytes: number): Uint8Array {
  if (used + bytes > pool.length) {
    fill(pool);
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}

/** Reads random bytes from a system file, because loading `node:crypto` costs each command 5 ms of processor time. */
function fill(bytes: Uint8Array): void {
  try {
    const file = openSync('/dev/urandom', 'r');
    try {
      if (readSync(file, bytes) === bytes.length) return;
    } finally {
      closeSync(file);
    }
  } catch {
    // Windows has no such file.
  }
  randomFillSync(bytes);
}

/**
 * Returns the mark of an agent, which all of its conversations share. Only a reader of the store can compute the mark.
 * `generation` changes with `earpiece trust --new-mark`.
 */
export function markOf(secret: string, log: LogKey, generation = ''): string {
  return letters(createHmac('sha256', secret).update(`mark of ${log} ${generation}`).digest().subarray(0, 4));
}

function letters(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += ALPHABET.charAt(byte % 32);
  return text;
}
