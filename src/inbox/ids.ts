import { createHmac, randomBytes } from 'node:crypto';
import type { LogKey, ConversationId } from '../core/address.ts';
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
    return `${prefix}_${head}${letters(randomBytes(10))}`;
  },
};

/** The mark of a conversation: fixed, and not to be guessed by whoever does not have the store. */
export function markOf(secret: string, log: LogKey, conversation: ConversationId): string {
  return letters(createHmac('sha256', secret).update(`${log}#${conversation}`).digest().subarray(0, 4));
}

const letters = (bytes: Uint8Array): string => [...bytes].map((byte) => ALPHABET.charAt(byte % 32)).join('');
