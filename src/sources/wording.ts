/**
 * Formats names of files, branches and commits for messages and keys of events. The names are untrusted, because other people
 * choose them.
 */
import { hash } from 'node:crypto';

/** Returns the name on one line, with control characters escaped. */
export const inLine = (text: string): string =>
  text.toWellFormed().replaceAll(
    // oxlint-disable-next-line no-control-regex -- names of files may contain these characters
    /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Returns the name on one line, between backticks. A backtick in the name is escaped. */
export const quoted = (text: string): string => `\`${inLine(text).replaceAll('`', '\\u0060')}\``;

/** Makes a part of a key from the name. A long name becomes a hash and the end of the name, which is the most specific part. */
export const keyOf = (name: string): string =>
  name.length <= 256 ? name : `${hash('sha256', name).slice(0, 16)}…${name.slice(-200).toWellFormed()}`;

/** Whether a text has a control character, such as a line break. Earpiece refuses such paths and globs. */
// oxlint-disable-next-line no-control-regex -- the pattern finds control characters
export const hasControl = (text: string): boolean => /[\u0000-\u001f\u007f-\u009f]/u.test(text);
