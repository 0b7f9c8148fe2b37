/** Names of files, branches and commits in the lines and keys of events: others chose them. */
import { hash } from 'node:crypto';

/** Whatever its characters are, it stays within its line. */
export const inLine = (text: string): string =>
  text.toWellFormed().replaceAll(
    // oxlint-disable-next-line no-control-regex -- names of files may hold them
    /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** And within its quotes. */
export const quoted = (text: string): string => `\`${inLine(text).replaceAll('`', '\\u0060')}\``;

/** Keys are short; of a longer name the end tells most. */
export const keyOf = (name: string): string =>
  name.length <= 256 ? name : `${hash('sha256', name).slice(0, 16)}…${name.slice(-200).toWellFormed()}`;
