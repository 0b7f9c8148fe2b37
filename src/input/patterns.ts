/**
 * Runs users' regular expressions in time linear to the text. JavaScript's engine backtracks, so `(a+)+$` from a cloned
 * repository would stop a server for hours. RE2 has no lookaround and no backreferences.
 */
import { createRequire } from 'node:module';
import type * as Re2 from 're2js';

/** The engine, loaded at its first use, because most commands have no pattern. */
let engine: typeof Re2.RE2JS | undefined;
const re2 = (): typeof Re2.RE2JS => (engine ??= (createRequire(import.meta.url)('re2js') as typeof Re2).RE2JS);

const MAX_CHARS = 1_000;
/**
 * The maximum size of a pattern in instructions of RE2. `\w{40}` has about 40. The time for a text is proportional to the text's
 * length times the pattern's size.
 */
const MAX_SIZE = 300;
/** The maximum number of expressions in one list. */
export const MAX_PATTERNS = 64;

export type PatternRead =
  | { readonly kind: 'pattern'; readonly pattern: Pattern }
  | { readonly kind: 'problem'; readonly problem: string };

export interface Pattern {
  /** The number of RE2 instructions of the compiled pattern, at least 1. */
  readonly size: number;
  replaceAll(text: string, by: string): string;
  /** Whether the pattern matches anywhere in the text. */
  test(text: string): boolean;
  /** The number of capturing groups, without the whole match. */
  readonly groups: number;
  /** Returns the first match and its groups. A group that matched nothing is undefined. Returns undefined if nothing matches. */
  find(text: string): readonly (string | undefined)[] | undefined;
  /** Returns the position of the first match in UTF-16 code units. Returns undefined if nothing matches. */
  place(text: string): number | undefined;
}

/** Caches compiled patterns by their source, because a policy is read before every notification. */
const READ = new Map<string, PatternRead>();
const READ_KEPT = 256;

/** Reads a pattern, and never throws. For an invalid pattern, returns the problem in words for people. */
export function readPattern(source: string): PatternRead {
  const known = READ.get(source);
  if (known !== undefined) return known;
  const read = compile(source);
  if (READ.size >= READ_KEPT) READ.clear();
  READ.set(source, read);
  return read;
}

function compile(source: string): PatternRead {
  if (source.length > MAX_CHARS) return problem(`the pattern has ${source.length} characters; write at most ${MAX_CHARS}`);
  const unsupported = unsupportedIn(source);
  if (unsupported !== undefined) return problem(unsupported);
  const asked = repeats(source);
  if (asked > 2 * MAX_SIZE) return problem(tooLarge(`asks for ${asked} repetitions`));
  try {
    const RE2 = re2();
    const pattern = RE2.compile(RE2.translateRegExp(asRe2(source)));
    const size = pattern.programSize();
    if (size > MAX_SIZE) return problem(tooLarge(`has ${size} instructions`));
    if (pattern.test('')) return problem('the pattern matches the empty text, and so every text; write + instead of *');
    const replaceAll = (text: string, by: string): string =>
      pattern.test(text) ? pattern.matcher(text).replaceAll(by.replaceAll('$', '$$$$')) : text;
    const groups = pattern.groupCount();
    const find = (text: string): readonly (string | undefined)[] | undefined => {
      const matcher = pattern.matcher(text);
      if (!matcher.find()) return undefined;
      return Array.from({ length: groups + 1 }, (_, group) => matcher.group(group) ?? undefined);
    };
    const place = (text: string): number | undefined => {
      const matcher = pattern.matcher(text);
      return matcher.find() ? matcher.start() : undefined;
    };
    return { kind: 'pattern', pattern: { size, groups, replaceAll, find, place, test: (text) => pattern.test(text) } };
  } catch (cause) {
    const said = (cause as Error).message
      .replace('error parsing regexp: ', '')
      .replace(`: \`${source}\``, '')
      .replaceAll('`', '"');
    return problem(`the pattern is not a regular expression of RE2 (${said}); correct the pattern`);
  }
}

const problem = (text: string): PatternRead => ({ kind: 'problem', problem: text });

const tooLarge = (seen: string): string =>
  `the pattern ${seen}; write at most ${MAX_SIZE} instructions of RE2: fewer repetitions, such as {20,} instead of {500}, or a shorter text`;

const SIMPLER = 'match the surrounding text as well, or write one pattern for each case';

/** Finds JavaScript syntax that cannot run in linear time. RE2 would give some of this syntax another meaning. */
function unsupportedIn(source: string): string | undefined {
  const tokens = source.match(TOKENS) ?? [];
  if (tokens.some((token) => /^\(\?(?:=|!|<=|<!)/u.test(token)))
    return `lookahead and lookbehind are not supported, since every pattern must run in linear time; ${SIMPLER}`;
  if (tokens.some((token) => /^\\(?:[1-9]|k)/u.test(token)))
    return `backreferences are not supported, since every pattern must run in linear time; ${SIMPLER}`;
  return undefined;
}

/** Matches one escape, one class, the beginning of a lookahead or lookbehind, or one character. */
const TOKENS = /\\u[0-9A-Fa-f]{4}|\\p\{[^}]*\}|\\P\{[^}]*\}|\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\(\?(?:<=|<!|[=!])|[\s\S]/gu;

/** Adds up the largest number of each pair of braces, which gives a cheap bound for the cost of compiling. */
function repeats(source: string): number {
  let sum = 0;
  for (const [, least = '0', most = ''] of source.matchAll(/\{(\d{1,9})(?:,(\d{0,9}))?\}/gu))
    sum += Math.max(Number(least), Number(most));
  return sum;
}

/** The white space of JavaScript, which includes more characters than the white space of RE2. */
const SPACES = String.raw`\t\n\v\f\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}`;

/** Rewrites syntax that JavaScript and RE2 spell differently, or to which they give different meanings. */
const asRe2 = (source: string): string =>
  source
    .replaceAll(/\\u([Dd][89ABab][0-9A-Fa-f]{2})\\u([Dd][C-Fc-f][0-9A-Fa-f]{2})/gu, (_, high: string, low: string) => {
      const code = (String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)).codePointAt(0) ?? 0).toString(16);
      return `\\x{${code}}`;
    })
    .replaceAll(TOKENS, (token) => {
      if (token === String.raw`\s`) return `[${SPACES}]`;
      if (token === String.raw`\S`) return `[^${SPACES}]`;
      if (token.startsWith('[')) return token.replaceAll(/\\[\s\S]/gu, (escape) => (escape === String.raw`\s` ? SPACES : escape));
      return token.replace(/^(\\[pP]\{)(?:Script|sc|General_Category|gc)=/u, '$1');
    });
