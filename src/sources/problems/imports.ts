/** Finds out whether a test file, or a file that it imports, has changed since a run of the tests. */
import { dirname, resolve } from 'node:path';
import { textOf } from './read-file.ts';
import { statsOf } from './stamp.ts';

/** The maximum number of files of one stamp. */
const MAX_FILES = 200;
/** The maximum number of files whose imports are kept. */
const MAX_KEPT = 1_000;
/** How long a stamp is used again, in ms. The errors of one run are printed together. */
const VALID_MS = 50;

const IMPORT = /\b(?:from|import|require)\s*\(?\s*['"](?<path>\.{1,2}\/[^'"\n]+)['"]/gu;
/** The endings that Node.js or a loader appends to the path of an import. */
const ENDINGS = ['', '.js', '.mjs', '.cjs', '.json', '.ts', '.mts', '.cts', '.tsx', '.jsx', '/index.js', '/index.ts'];

type Imports = { readonly stamp: string; readonly paths: readonly string[] };

/**
 * Returns a function that gives a text for a file. The text changes when the file changes, or a file that it imports directly or
 * through other files (at most 200 files). The text is undefined if the file does not exist.
 */
export function importStampIn(folder: string): (file: string) => string | undefined {
  const kept = new Map<string, Imports>();
  const stamps = new Map<string, { readonly at: number; readonly stamp: string | undefined }>();
  const importsOf = (path: string, stamp: string): readonly string[] => {
    const known = kept.get(path);
    if (known?.stamp === stamp) return known.paths;
    const paths = importsIn(path);
    if (kept.size >= MAX_KEPT) kept.clear();
    kept.set(path, { stamp, paths });
    return paths;
  };
  const stampOf = (first: string): string | undefined => {
    const [stamps, seen] = [[] as string[], new Set([first])];
    for (const path of seen) {
      const found = fileAt(path);
      if (found === undefined && path === first) return undefined;
      stamps.push(found === undefined ? `${path} absent` : `${path} ${found.stamp}`);
      if (found === undefined) continue;
      for (const each of importsOf(found.path, found.stamp)) if (seen.size < MAX_FILES) seen.add(each);
    }
    return stamps.join('\n');
  };
  return (file) => {
    const path = resolve(folder, file);
    const [known, at] = [stamps.get(path), performance.now()];
    if (known !== undefined && at - known.at < VALID_MS) return known.stamp;
    const stamp = stampOf(path);
    if (stamps.size >= MAX_KEPT) stamps.clear();
    stamps.set(path, { at, stamp });
    return stamp;
  };
}

/** Returns the file that an import of this path reads. */
function fileAt(path: string): { readonly path: string; readonly stamp: string } | undefined {
  for (const ending of ENDINGS) {
    const stats = statsOf(path + ending);
    if (stats?.isFile()) return { path: path + ending, stamp: `${stats.mtimeMs} ${stats.size}` };
  }
  return undefined;
}

const importsIn = (path: string): readonly string[] =>
  relativeImports(textOf(path) ?? '').map((each) => resolve(dirname(path), each));

/** Returns the relative paths in the imports and the calls of `require` in a text. */
export const relativeImports = (text: string): readonly string[] =>
  [...text.matchAll(IMPORT)].map(({ groups }) => groups?.['path'] ?? '');
