import { StringDecoder } from 'node:string_decoder';
import { clean } from '../../handles/text.ts';

/** The maximum number of characters that are kept of an unfinished line. */
const PENDING_CHARS = 8_192;

/** Splits the bytes of one stream into lines, as a terminal shows them. The bytes may arrive in any pieces. */
export function linesOf(onLine: (line: string) => void): { readonly write: (chunk: Buffer) => void; readonly end: () => void } {
  const decoder = new StringDecoder('utf8');
  let pending = '';
  return {
    write: (chunk) => {
      const parts = (pending + decoder.write(chunk)).split('\n');
      pending = (parts.pop() ?? '').slice(-PENDING_CHARS);
      for (const line of parts) onLine(clean(line).trimEnd());
    },
    end: () => {
      if (pending !== '') onLine(clean(pending).trimEnd());
      pending = '';
    },
  };
}
