/** Draws random sentences for a reader to judge, because the rules find only some faults. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { textsOfCode, type Text } from './code.ts';
import { filesOf } from './files.ts';
import { sentencesOf, sentencesOfPage, wordsOf } from './sentences.ts';

export const KINDS = ['pages', 'help and errors', 'docstrings', 'comments', 'titles'] as const;

export type Drawn = {
  readonly kind: (typeof KINDS)[number];
  readonly file: string;
  readonly line: number;
  readonly text: string;
};

/** The minimum number of words of a sentence. A shorter text is a label. */
const FEWEST_WORDS = 4;

const EXEMPT = ['scripts/voice/rules.ts', 'e2e/docs/voice.test.ts', 'e2e/layers/fixture', 'CHANGELOG.md'];

/** Draws `count` sentences of each kind. The same seed and the same tree give the same sentences. */
export function sample(root: string, seed: string, count: number): Drawn[] {
  const all = sentences(root);
  return KINDS.flatMap((kind) =>
    all
      .filter((each) => each.kind === kind)
      .map((each) => ({ each, rank: rankOf(seed, each) }))
      .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
      .slice(0, count)
      .map(({ each }) => each),
  );
}

/** Ranks a sentence without its line number, so that a new line above it does not change the sample. */
const rankOf = (seed: string, { file, text }: Drawn): string =>
  createHash('sha256').update(`${seed}\n${file}\n${text}`).digest('hex');

/**
 * Returns all sentences of pages, of strings in `src` and the console, of comments, and of titles of tests. Equal sentences of
 * one file are returned once.
 */
export function sentences(root: string): Drawn[] {
  const found = filesOf(root, EXEMPT).flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return (file.endsWith('.md') ? ofPage(file, text) : ofCode(file, text)).filter(
      (each) => wordsOf(each.text.replaceAll(/`[^`]*`/gu, '')) >= FEWEST_WORDS,
    );
  });
  return [...new Map(found.map((each) => [`${each.kind} ${each.file} ${each.text}`, each])).values()];
}

/** Removes the URLs of links. Code stays, because a reader needs the code to judge the sentence. */
const withCode = (text: string): string => text.replaceAll(/!?\[([^\]]*)\]\([^)]*\)/gu, '$1');

const ofPage = (file: string, page: string): Drawn[] =>
  sentencesOfPage(page, withCode).map(({ line, text }) => ({ kind: 'pages', file, line, text }));

function ofCode(file: string, code: string): Drawn[] {
  return textsOfCode(code, 'prose').flatMap((text) => {
    const kind = kindOf(file, text, code);
    if (!kind) return [];
    return sentencesOf(text.text, text.line, withCode).map((sentence) => ({
      kind,
      file,
      line: sentence.line,
      text: sentence.text,
    }));
  });
}

function kindOf(file: string, { kind, line }: Text, code: string): Drawn['kind'] | undefined {
  if (kind === 'title') return 'titles';
  if (kind === 'comment') return code.split('\n', line).at(-1)?.includes('/**') === true ? 'docstrings' : 'comments';
  return /^(?:src|console\/src)\//u.test(file) && !file.includes('.test.') ? 'help and errors' : undefined;
}
