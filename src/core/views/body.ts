import { LIKE_E, LIKE_P, LIKE_QUOTE, LIKE_SLASH } from './look-alikes.ts';
import { joinsEmoji } from '../joiners.ts';

/**
 * Makes foreign text safe inside a view. A backslash escapes invisible characters, and forms that only Earpiece's frames may
 * have. The result is the same for all views, and a second pass changes nothing, so another view may embed it. The text is cut
 * before it is escaped, so that a long text costs little time. A cut text ends with its original number of characters.
 */
export function neutralize(body: string, maxChars: number): string {
  const trimmed = body.trim();
  const end = endOf(trimmed, maxChars);
  const seen = escapeSigns(trimmed.slice(0, end)).replace(BLANK_LINES, '\n\n').trim();
  // The escapes make the text longer, so the escaped text is cut again, at twice the limit.
  const last = endOf(seen, 2 * maxChars);
  if (end === trimmed.length && last === seen.length) return seen;
  return `${seen.slice(0, last).trimEnd()}… (${withCommas(codePoints(trimmed))} characters, cut)`;
}

/**
 * Whether the text has more than `maxChars` characters, so that `neutralize` cuts it. False if `neutralize` cuts the text only
 * because the escapes make it longer than twice the limit.
 */
export function isCutAt(body: string, maxChars: number): boolean {
  const trimmed = body.trim();
  return endOf(trimmed, maxChars) < trimmed.length;
}

/**
 * Escapes a text like `neutralize`. Does not cut or trim the text, and keeps its blank lines. Curly quotation marks and their
 * look-alikes become straight ones. Only the view itself writes curly quotation marks, around an instruction and around a message
 * of a person or an agent.
 */
export const escapeSigns = (text: string): string => escapeForms(text.replace(LIKE_QUOTE, '"'));

/** Makes an item of another view safe. Its curly quotation marks stay, because the other view wrote them. */
export const adopted = (item: string): string => escapeForms(item.trim()).replace(BLANK_LINES, '\n\n').trim();

function escapeForms(text: string): string {
  signs ??= makeSigns();
  return text
    .replace(LINE_BREAKS, '\n')
    .replace(signs.hidden, escapeHidden)
    .replace(signs.frame, '$1\\')
    .replace(signs.tag, '$1\\')
    .replace(signs.jsonFrame, '$1\\')
    .replace(WHOLE, '\\$&')
    .replace(RULE_OR_HEADING, '$1\\');
}

/** Makes a name one short line without the characters that views put around names. */
export function neutralizeName(name: string): string {
  const line = neutralize(name, 80).replace(/\s+/g, ' ').replaceAll('"', "'");
  return line.replace(/[[(]/g, '(').replace(/[\])]/g, ')').replaceAll(':', '.') || 'unnamed';
}

/** Turns a source or a kind into one word. */
export const neutralizeKind = (kind: string): string => neutralizeName(kind).replace(/[^\p{L}\p{N}_.\-]/gv, '_');

/**
 * Quotes a message of a person or an agent. A neutral text has no curly quotation marks, so the quotation ends at the closing
 * mark.
 */
export const quote = (neutral: string): string => `“${neutral}”`;

/** Whether a stored text may be copied: it contains no frame of Earpiece and no lone surrogate. */
export const isCopyable = (text: string): boolean => text.isWellFormed() && !/\[\/?ep\b/.test(text);

export const withCommas = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ',');

const LINE_BREAKS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;
const BLANK_LINES = /\n(?:[ \t]*\n){2,}/g;

type Signs = Readonly<Record<'hidden' | 'frame' | 'tag' | 'jsonFrame', RegExp>>;

/** The expressions are built at the first use, because building takes 3 ms and most processes render nothing. */
let signs: Signs | undefined;

function makeSigns(): Signs {
  const blank = String.raw`[\t\p{Zs}]*`;
  const slash = String.raw`(?:[${LIKE_SLASH}]\p{M}*)?`;
  const ep = String.raw`[${LIKE_E}]\p{M}*${blank}[${LIKE_P}]\p{M}*`;
  return {
    // Attackers hide text in such characters: control, bidi, zero-width and tag characters, lone surrogates and variation
    // selectors.
    hidden: /[[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u{fff9}-\u{fffb}\u{fffe}\u{ffff}]--[\n\t]]/gv,
    // Matches `[ep k7f3]`, `[/ep k7f3]` and look-alikes: any opening bracket except `(` and `{`, and look-alike letters.
    frame: new RegExp(String.raw`([\p{Ps}--[\(\{（｛]])(?=${blank}${slash}${blank}${ep}(?![\p{L}\p{N}]))`, 'giv'),
    // Matches `<notification`, `</notifications`, a host's `<system-reminder>`, a model's `<|im_start|>`.
    tag: new RegExp(String.raw`([<＜])(?=${blank}${slash}${blank}(?:notification|system[\-_]|\|))`, 'giv'),
    // Matches `{"ep":"k7f3"`, the beginning of the JSON view.
    jsonFrame: new RegExp(String.raw`(["“”])(?=${ep}["“”][ \t]*:)`, 'giv'),
  };
}

/** Matches the hint that names the place of the uncut text. */
const WHOLE = /\((?=all of it: )/g;

/** Matches lines that would be a rule (`---`) or a heading of the Markdown view (`**Error:**`). */
const RULE_OR_HEADING = /^([ \t]*)(?=([\-*_=])[ \t]*(?:\2[ \t]*){2,}$|\*\*[^*\n]{1,60}\*\*)/gmv;

const EMOJI_STYLE = '\ufe0f';
const KEYCAP = '\u20e3';

function escapeHidden(sign: string, at: number, whole: string): string {
  // Inside an emoji sequence, a joiner or a variation selector is part of the visible character.
  const before = whole.slice(Math.max(0, at - 3), at);
  const after = whole.slice(at + 1, at + 3);
  if (sign === EMOJI_STYLE && (/\p{Extended_Pictographic}$/u.test(before) || after.startsWith(KEYCAP))) return sign;
  if (joinsEmoji(whole, at)) return sign;
  const code = sign.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
}

/** Returns the index after the first `max` code points. */
function endOf(text: string, max: number): number {
  if (text.length <= max) return text.length;
  let at = 0;
  for (let seen = 0; seen < max && at < text.length; seen += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return at;
}

function codePoints(text: string): number {
  let count = text.length;
  for (let at = 1; at < text.length; at += 1) {
    const isLow = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
    if (isLow && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800) count -= 1;
  }
  return count;
}
