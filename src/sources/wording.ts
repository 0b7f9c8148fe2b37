/**
 * Formats names of files, branches and commits for messages and keys of events. The names are untrusted, because other people
 * choose them.
 */
import { hash } from 'node:crypto';

/** The name on one line, with control characters escaped. */
export const inLine = (text: string): string =>
  text.toWellFormed().replaceAll(
    // oxlint-disable-next-line no-control-regex -- names of files may hold them
    /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The name on one line in quotes. The name cannot contain the closing quote. */
export const quoted = (text: string): string => `\`${inLine(text).replaceAll('`', '\\u0060')}\``;

/** The name as part of a key. A long name becomes a hash and its end, which is its most specific part. */
export const keyOf = (name: string): string =>
  name.length <= 256 ? name : `${hash('sha256', name).slice(0, 16)}…${name.slice(-200).toWellFormed()}`;
