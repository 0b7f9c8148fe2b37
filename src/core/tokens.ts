/**
 * Estimates the tokens of a text. On longer prose, code, JSON and Japanese, the estimate is within 25 % of the o200k encoding.
 * The estimate needs one pass and no tables, whereas the tables of the encoding use megabytes of memory. For a budget, an
 * estimate is enough if it is the same on every machine.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let at = 0;
  while (at < text.length) {
    const from = at;
    const code = text.charCodeAt(at);
    const kind = kindOf(code);
    at += 1;
    switch (kind) {
      case 'letter':
        // A word ends before an upper-case letter that follows a lower-case one, because the encoding splits there.
        while (at < text.length && kindOf(text.charCodeAt(at)) === 'letter' && !startsWord(text, at)) at += 1;
        tokens += wordTokens(at - from);
        break;
      case 'digit':
        while (at < text.length && kindOf(text.charCodeAt(at)) === 'digit') at += 1;
        tokens += Math.ceil((at - from) / 3) + (text.charCodeAt(from - 1) === SPACE ? 1 : 0);
        break;
      case 'symbol':
        while (at < text.length && kindOf(text.charCodeAt(at)) === 'symbol') at += 1;
        tokens += symbolTokens(text, from, at);
        break;
      case 'space':
        while (at < text.length && kindOf(text.charCodeAt(at)) === 'space') at += 1;
        tokens += spaceTokens(text, from, at);
        break;
      case 'kana':
        tokens += 0.6;
        break;
      case 'ideograph':
        tokens += 0.72;
        break;
      case 'hangul':
        tokens += 0.6;
        break;
      case 'alphabet':
        tokens += 0.33;
        break;
      case 'surrogate':
        tokens += 0.9;
        break;
      case 'other':
        tokens += 1;
        break;
      default:
        kind satisfies never;
    }
  }
  return Math.ceil(tokens);
}

const SPACE = 32;
const LINE_FEED = 10;

type Kind = 'letter' | 'digit' | 'symbol' | 'space' | 'kana' | 'ideograph' | 'hangul' | 'alphabet' | 'surrogate' | 'other';

function kindOf(code: number): Kind {
  if (code <= SPACE) return 'space';
  if (code < 127) {
    if ((code >= 97 && code <= 122) || (code >= 65 && code <= 90)) return 'letter';
    return code >= 48 && code <= 57 ? 'digit' : 'symbol';
  }
  if (code >= 0xc0 && code < 0x2000) return 'alphabet';
  if (code >= 0x3040 && code < 0x3100) return 'kana';
  if (code >= 0x3400 && code < 0xa000) return 'ideograph';
  if (code >= 0xac00 && code < 0xd7b0) return 'hangul';
  return code >= 0xd800 && code < 0xe000 ? 'surrogate' : 'other';
}

const isUpper = (code: number): boolean => code >= 65 && code <= 90;
const startsWord = (text: string, at: number): boolean => isUpper(text.charCodeAt(at)) && !isUpper(text.charCodeAt(at - 1));

/**
 * Estimates the tokens of a word. A word of up to 10 letters counts 1, as most common words do. Each 4 further letters count 1
 * more (rounded up).
 */
const wordTokens = (letters: number): number => (letters <= 10 ? 1 : 1 + Math.ceil((letters - 10) / 4));

/** Estimates the tokens of adjacent symbols: one for each 3 symbols, such as `":"`, or for each 8 equal symbols (rounded up). */
function symbolTokens(text: string, from: number, to: number): number {
  const first = text.charCodeAt(from);
  let same = from + 1;
  while (same < to && text.charCodeAt(same) === first) same += 1;
  return Math.ceil((to - from) / (same === to && to - from > 2 ? 8 : 3));
}

/** Estimates the tokens of white space. A single space belongs to the next word. A line break belongs to a symbol before it. */
function spaceTokens(text: string, from: number, to: number): number {
  let indent = 0;
  while (to - indent > from && text.charCodeAt(to - 1 - indent) !== LINE_FEED) indent += 1;
  if (indent === to - from) return indent > 1 ? Math.ceil(indent / 80) : 0;
  const joined = from > 0 && kindOf(text.charCodeAt(from - 1)) === 'symbol';
  return (joined ? 0 : 1) + (indent > 1 ? 1 : 0);
}
