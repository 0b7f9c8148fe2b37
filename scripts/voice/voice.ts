/** Finds sentences that break the rules of `rules.ts`, in pages and in code, and counts them by area. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { textsOfCode, type Text } from './code.ts';
import { filesOf } from './files.ts';
import { LONG, MAX_WORDS, RULES } from './rules.ts';
import { proseOf, sentencesOf, sentencesOfPage, wordsOf, wordsToHold, type Sentence } from './sentences.ts';

export type Finding = {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly sentence: string;
  readonly better: string;
};

/** Files that contain the banned words as examples, or that quote other programs. */
const EXEMPT = ['scripts/voice/', 'e2e/docs/voice.test.ts', 'e2e/layers/fixture', 'CHANGELOG.md'];

/** Returns every finding in the repository at `root`, in the order of the files. */
export function findings(root: string): Finding[] {
  return filesOf(root, EXEMPT).flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return file.endsWith('.md') ? inPage(file, text) : inCode(file, text);
  });
}

export const inPage = (file: string, page: string): Finding[] =>
  sentencesOfPage(page).flatMap((sentence) => judge(file, sentence, true));

export function inCode(file: string, code: string): Finding[] {
  const tests = isTest(file);
  return textsOfCode(code, tests ? 'titles' : 'prose').flatMap((text) =>
    partsOf(text).flatMap((sentence) => judge(file, asText(sentence, text), text.kind !== 'title')),
  );
}

/**
 * Returns the sentences of a text. A comment is read like a page, without its diagrams. A string is one text per line, because a
 * list of examples is not a sentence.
 */
const partsOf = ({ kind, text, line }: Text): Sentence[] =>
  kind === 'comment'
    ? sentencesOfPage(proseOf(text)).map((sentence) => ({ ...sentence, line: sentence.line + line - 1 }))
    : text.split('\n').flatMap((part) => sentencesOf(part, line));

/** Returns the areas with more findings than `limits` allows. An area without a limit allows no findings. */
export const overLimit = (
  byArea: ReadonlyMap<string, readonly Finding[]>,
  limits: Readonly<Record<string, number>>,
): { readonly area: string; readonly found: readonly Finding[]; readonly most: number }[] =>
  [...byArea].flatMap(([area, found]) => {
    const most = limits[area] ?? 0;
    return found.length > most ? [{ area, found, most }] : [];
  });

/** Returns the area of a file: each page is an area, and so are each room of the code and the tests of each room. */
export function areaOf(file: string): string {
  if (file.endsWith('.md')) return file;
  const [top = '', room] = file.split('/');
  const area = room === undefined || room.includes('.') ? (file.includes('/') ? top : 'root') : `${top}/${room}`;
  return isTest(file) && !file.startsWith('e2e/') ? `${area} tests` : area;
}

/**
 * A title is always a sentence. Another string of at most four words without a full stop is usually a part of a
 * sentence. The rules for whole sentences do not apply to such a string.
 */
const asText = (sentence: Sentence, { kind }: Text): Sentence =>
  kind === 'title'
    ? { ...sentence, label: false }
    : kind === 'string' && !/[.!?]["'”’)]*$/u.test(sentence.text) && wordsOf(sentence.text) <= 4
      ? { ...sentence, label: true }
      : sentence;

function judge(file: string, { line, text, label }: Sentence, limited: boolean): Finding[] {
  // A part after a colon is a sentence if it begins with a capital letter. Otherwise the part is often a list.
  const parts = text.split(/(?<=[;:]) /u).filter((part, at) => at === 0 || /^["'“(]*\p{Lu}/u.test(part));
  const rule = RULES.find(
    ({ pattern, sentencesOnly }) =>
      !(sentencesOnly && (label || text.endsWith('?'))) &&
      (pattern.source.startsWith('^') ? parts : [text]).some((part) => pattern.test(part.replace(/^["'“(]+/u, ''))),
  );
  if (rule) return [{ file, line, rule: rule.id, sentence: text, better: `not “${rule.bad}” but “${rule.better}”` }];
  const words = wordsToHold(text);
  if (!limited || words <= MAX_WORDS) return [];
  return [{ file, line, rule: LONG.id, sentence: text, better: `${words} words; ${LONG.better}` }];
}

const isTest = (file: string): boolean => /\.test\.tsx?$/u.test(file) || file.startsWith('e2e/') || file.startsWith('contracts/');
