/** Finds the files of a repository whose sentences are checked and sampled. */
import { globSync } from 'node:fs';

const PAGES = ['*.md', 'docs/**/*.md'];
const CODE = ['*.ts', '{src,console,contracts,e2e,bench,scripts,examples}/**/*.{ts,tsx}'];

/** Returns the paths of the pages and of the code at `root`, sorted, without those that begin with an exempt path. */
export const filesOf = (root: string, exempt: readonly string[]): string[] =>
  globSync([...PAGES, ...CODE], { cwd: root })
    .toSorted()
    .filter((file) => !exempt.some((begin) => file.startsWith(begin)));
