/** Quotes foreign texts for the sentences of Earpiece. */
import { SOME_AGENT } from '../teller.ts';
import { LIKE_QUOTE } from '../views/look-alikes.ts';

/**
 * Quotes a text that a producer, a person or a program chose, in one line. The text cannot end the quotation, and therefore
 * cannot look like words of Earpiece.
 */
export const quoted = (text: string): string => `“${text.replaceAll(/\s+/gu, ' ').trim().replace(LIKE_QUOTE, '"')}”`;

/** Returns a name unchanged if the name is one plain word, such as `shop/coder#c1`. Any other name is quoted. */
export const named = (name: string): string => (NAME.test(name) || name === SOME_AGENT ? name : quoted(name));

/** Matches words without blanks and without the signs that end a sentence or a part of a sentence. */
const NAME = /^[\p{L}\p{N}_/#*@~+%=-](?:[\p{L}\p{M}\p{N}_/#*@~+%=:.-]*[\p{L}\p{M}\p{N}_/#*@~+%=-])?$/u;
