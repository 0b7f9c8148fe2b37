/** Prepares texts for display: shortens long texts, writes out invisible characters, and parses tables. */
import { decode } from '@toon-format/toon';

const LONG_CHARS = 200;
const LONG_LINES = 3;
const FIRST_LINE_CHARS = 100;
/** The maximum length of a parsed text. Parsing a longer text would block the page. */
const MAX_READ_CHARS = 65_536;

/** Quotes a name as one word of a command line. */
export const word = (text: string): string => (/^[\w@%+=:,./-]+$/u.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/**
 * Control characters except tabs and line breaks, direction controls, and characters without a width except joiners (U+200C,
 * U+200D), which scripts and emoji need.
 */
const UNSEEN = /[[\p{Cc}\u00AD\u061C\u180E\u200B\u200E\u200F\u202A-\u202E\u2060-\u206F\uFEFF]--[\t\n\r]]/gv;
/** Matches a text without visible characters. */
const LOOKS_EMPTY = /^[\s\p{Cf}\u115F\u1160\u2800\u3164\uFFA0]*$/u;

/** Writes out the characters of `UNSEEN`, such as `\u{202E}`, so that no text hides a part of itself or reorders the page. */
export const visible = (text: string): string =>
  text.replaceAll(UNSEEN, (each) => `\\u{${each.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}}`);

/** Like `visible`, but replaces a text without visible characters by a note that it is empty. */
export const visibleOrEmpty = (text: string): string => {
  const seen = visible(text);
  return LOOKS_EMPTY.test(seen) ? '(empty)' : seen;
};

/** A longer message is collapsed. The limit is higher than for other texts, because a person wants to read messages. */
const LONG_SPEECH_CHARS = 6_000;
const FIRST_SPEECH_CHARS = 2_000;

/** Returns the first part of a long text; null for a text that is short enough to be shown whole. */
export function firstOf(text: string): string | null {
  const lines = text.slice(0, LONG_CHARS * LONG_LINES).split('\n', LONG_LINES + 1);
  if (text.length <= LONG_CHARS && lines.length <= LONG_LINES) return null;
  const first = text.trimStart().split('\n', 1)[0]?.trim() ?? '';
  return first.length > FIRST_LINE_CHARS ? `${cut(first, FIRST_LINE_CHARS - 1)}…` : first;
}

/**
 * The maximum number of shown characters: a browser needs seconds to lay out a megabyte, and again after each change near that
 * text.
 */
const SHOWN_CHARS = 50_000;
export const mostOf = (text: string): string => (text.length <= SHOWN_CHARS ? text : cut(text, SHOWN_CHARS));

export const firstOfSpeech = (text: string): string | null =>
  text.length <= LONG_SPEECH_CHARS ? null : `${cut(text, FIRST_SPEECH_CHARS)} …`;

const LONGEST_CHARACTER = 40;
const CHARACTERS = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Cuts a text to this length, but never within a character. An emoji of several code points is one character. */
function cut(text: string, length: number): string {
  // If `length` is large, only the text near the cut is split into characters, because a real character is never longer than
  // `LONGEST_CHARACTER`.
  const from = length > 5_000 ? length - LONGEST_CHARACTER : 0;
  let end = from;
  for (const { index, segment } of CHARACTERS.segment(text.slice(from, length + LONGEST_CHARACTER))) {
    if (from + index + segment.length > length) break;
    end = from + index + segment.length;
  }
  return text.slice(0, end === from ? length : end);
}

/** A TOON table: its name, its columns, and its rows of plain values. */
export type Table = {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly Readonly<Record<string, string | number | boolean | null>>[];
};

/** Matches a text that begins as a TOON table: `name[3]{a,b}:`. */
const TABLE = /^[\w.-]*\[\d+[^\]\n]*\]\{[^}\n]*\}:\n/u;

/** Returns a line of the sent text, without the marks that the view adds. */
export function bodyOf(text: string, format: string | null): string {
  switch (format ?? '') {
    case 'default':
      return dedented(text.replace(/^[^\s:]+ (?:info|warning|error|critical)\b[^:\n]*:[ \n]?/u, ''));
    case 'markdown':
      return dedented(text.replace(/^- /u, ''));
    case 'xml':
    case 'xml_batch':
      return text.replace(/^\s*<notification\b[^>]*>\n?/u, '').replace(/\n?<\/notification>\s*$/u, '');
    default:
      return text;
  }
}

/** Removes the indentation of up to four spaces that views add to all lines after the first. */
const dedented = (text: string): string => text.replaceAll(/\n {1,4}/gu, '\n');

/**
 * Parses a text that is one TOON table. Returns null for any other text: words that only look like TOON, such as `note: wait`,
 * are shown as they are.
 */
export function tableIn(text: string): Table | null {
  if (text.length > MAX_READ_CHARS || !TABLE.test(text)) return null;
  try {
    const value = decode(text, { strict: true });
    const [[name, rows] = [], ...more] = Array.isArray(value) ? [['', value] as const] : Object.entries(value as object);
    if (name === undefined || more.length > 0 || !Array.isArray(rows)) return null;
    return { name, columns: Object.keys(rows[0] as object), rows: rows as Table['rows'] };
  } catch {
    return null;
  }
}
