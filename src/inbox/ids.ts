import { createHmac, randomFillSync } from 'node:crypto';
import type { LogKey } from '../core/address.ts';
import type { Ids } from '../core/ports.ts';

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** `prefix_` + 10 characters of time + 10 random ones: sorts by time, cannot be guessed. */
export const randomIds: Ids = {
  make(prefix) {
    let time = Date.now();
    let head = '';
    for (let i = 0; i < 10; i++) {
      head = ALPHABET.charAt(time % 32) + head;
      time = Math.floor(time / 32);
    }
    return `${prefix}_${head}${letters(random(10))}`;
  },
};

/** Asking the system for each ten bytes costs more than all the rest of an id. */
const pool = new Uint8Array(4_000);
let used = pool.length;

function random(bytes: number): Uint8Array {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}

/**
 * The mark of an agent: the same in each of its conversations, and not to be guessed by whoever does not have the store.
 * `generation` changes with `earpiece trust --new-mark`.
 */
export function markOf(secret: string, log: LogKey, generation = ''): string {
  return letters(createHmac('sha256', secret).update(`mark of ${log} ${generation}`).digest().subarray(0, 4));
}

const letters = (bytes: Uint8Array): string => [...bytes].map((byte) => ALPHABET.charAt(byte % 32)).join('');
