/** Formats names of files, branches and commits for lines and keys of events: other people choose these names. */
import { hash } from 'node:crypto';

/** The name on one line, whatever its characters. */
export const inLine = (text: string): string =>
  text.toWellFormed().replaceAll(
    // oxlint-disable-next-line no-control-regex -- names of files may hold them
    /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** The name on one line and in quotes that it cannot end. */
export const quoted = (text: string): string => `\`${inLine(text).replaceAll('`', '\\u0060')}\``;

/** Keys are short; the end of a longer name is its most specific part. */
export const keyOf = (name: string): string =>
  name.length <= 256 ? name : `${hash('sha256', name).slice(0, 16)}…${name.slice(-200).toWellFormed()}`;
