const CHECKSUM_CHARS = 16;

/** Returns a 64-bit hash of a text in hex: FNV-1a over UTF-16 code units. */
export function checksum(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (let at = 0; at < text.length; at++) hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(at))) * 0x100000001b3n);
  return hash.toString(16).padStart(CHECKSUM_CHARS, '0');
}

/** Shortens a text to at most `max` characters. Different texts stay different, because a checksum replaces the end of a longer text. */
export const shortened = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - CHECKSUM_CHARS - 1).toWellFormed()}~${checksum(text)}`;
