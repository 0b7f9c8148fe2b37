/** Finds and escapes characters that a reader cannot see, and characters that could pass for a separator in Earpiece's lists. */

/**
 * Whether a text has no visible character: the text is empty, or has only blanks, control and format characters (such as U+200B)
 * and lone surrogates.
 */
export const isBlank = (text: string): boolean => !VISIBLE.test(text);

const HIDDEN = String.raw`\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\u2800`;
const VISIBLE = new RegExp(`[^${HIDDEN}]`, 'u');

/**
 * Bars, boxes and squares (`│`, `■`), which separate or mark the parts of a row, and commas, which separate the names of a row. The
 * ASCII bar is not included, because older ids may contain it.
 */
const MARKS = String.raw`\u2500-\u25ff\u2223\u2758\uff5c\uffe8,\u00b8\u060d\u066b\u201a\ua4f9\ufe10\ufe50\uff0c`;
const UNCLEAR = new RegExp(`[${HIDDEN}${MARKS}]`, 'u');

/** Returns the first character of an id that a reader cannot see, or could take for a mark of a row. */
export const unclearIn = (id: string): string | undefined => UNCLEAR.exec(id)?.[0];

/** Returns the name of a character, such as `U+00A0`. */
export const codePoint = (sign: string): string => `U+${hexOf(sign).toUpperCase().padStart(4, '0')}`;

const IN_NAMES = new RegExp(`(?! )[${HIDDEN}${MARKS}|]|(?<= )·|·(?= )|(?<= ) +`, 'gu');

/**
 * Makes a name safe for a row. Each character that a reader cannot see, or could take for a mark of the row, is spelled out
 * (`\u{a0}`). Single spaces inside the name stay.
 */
export const spelledOut = (name: string): string =>
  name.replace(IN_NAMES, (text) => [...text].map((sign) => `\\u{${hexOf(sign)}}`).join(''));

const hexOf = (sign: string): string => (sign.codePointAt(0) ?? 0).toString(16);
