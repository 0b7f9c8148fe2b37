/** Selects the files below a root that match globs and are not ignored. */
import { statSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { hasControl } from '../wording.ts';
import { expandBraces, hasOpenClass, matches, mayMatchBelow, parseGlob, type Pattern } from './glob.ts';
import { Ignored } from './ignore.ts';

export type Scope = {
  readonly globs: readonly Pattern[];
  /** Unusable globs, each with its error. */
  readonly problems: readonly string[];
  /** Whether the globs select this file. */
  file(path: string): boolean;
  /** Whether this folder must be scanned. */
  folder(path: string): boolean;
  /** Call this method for each changed path. After a change of a `.gitignore`, its rules are read again. */
  changed(path: string): void;
};

/**
 * Makes a scope from globs, which are paths from the root with `*`, `?`, `[a-z]`, `**` for any folders, and `{a,b}`. A glob
 * that ends in a slash is a folder with all its files. A glob with a leading `!` excludes paths that earlier globs match.
 */
export function scopeOf(root: string, globs: readonly string[]): Scope {
  const ignored = new Ignored(root);
  const problems: string[] = [];
  const rules = globs.flatMap((glob) => {
    const wrong = globProblem(glob);
    if (wrong !== undefined) {
      problems.push(`the glob ${JSON.stringify(glob)} ${wrong}; this glob is ignored`);
      return [];
    }
    const takes = glob.startsWith('!');
    return (expandBraces(takes ? glob.slice(1) : glob) ?? []).map((one) => ({ takes, pattern: parseGlob(one) }));
  });
  const gives = rules.filter(({ takes }) => !takes).map(({ pattern }) => pattern);
  /** Returns the names of a path from the root down; undefined if the path is not below the root. */
  const namesOf = (path: string): readonly string[] | undefined => {
    const inside = relative(root, path);
    if (inside === '') return [];
    const names = inside.split(sep);
    return names[0] === '..' || inside.startsWith(sep) ? undefined : names;
  };
  return {
    globs: gives,
    problems,
    file: (path) => {
      const names = gives.length === 0 ? undefined : namesOf(path);
      if (names === undefined || names.length === 0) return false;
      const last = rules.findLast(({ pattern }) => matches(pattern, names));
      return last !== undefined && !last.takes && !ignored.has(names, 'file');
    },
    folder: (path) => {
      const names = gives.length === 0 ? undefined : namesOf(path);
      return names !== undefined && gives.some((glob) => mayMatchBelow(glob, names)) && !ignored.has(names, 'folder');
    },
    changed: (path) => {
      const names = namesOf(path);
      if (names?.at(-1) === '.gitignore') ignored.forget(names.slice(0, -1));
    },
  };
}

/** Returns the error of a glob; undefined if the glob is usable. */
export function globProblem(glob: string): string | undefined {
  const path = glob.startsWith('!') ? glob.slice(1) : glob;
  if (path.trim() === '') return 'is empty';
  if (hasControl(path)) return 'has a control character; write ? for the character';
  if (ABSOLUTE.test(path) || isUpward(path)) return LEADS_OUT;
  const all = expandBraces(path);
  if (all === undefined) return 'expands to more than 256 globs, because of its braces; use fewer alternatives';
  if (all.some(hasOpenClass)) return String.raw`has a [ without its ]; write \[ for the character`;
  return [...all, ...(expandBraces(groupsAsBraces(path)) ?? [])].some(isUpward) ? LEADS_OUT : undefined;
}

const LEADS_OUT = 'leads out of the folder; write a path below the folder';

/** Matches a glob that begins with a slash, or with braces in which an alternative begins with a slash. */
const ABSOLUTE = /^(?:\/|\{(?:[^}]*[{,])?\/)/u;

/** Whether a folder name in the glob is `..`, also in the spelling `\.\.` or `[.][.]`. */
const isUpward = (path: string): boolean =>
  path
    .replaceAll(/\[\.+\]/gu, '.')
    .replaceAll('\\', '')
    .split('/')
    .includes('..');

/** Replaces each group of shell syntax: `@(a|b)` becomes `{a,b}`, and `@(a)` becomes `a`. */
const groupsAsBraces = (path: string): string =>
  path.replaceAll(/[@?*+!]\(([^()]*)\)/gu, (_, inner: string) =>
    inner.includes('|') ? `{${inner.replaceAll('|', ',')}}` : inner,
  );

/**
 * Adds a slash to a glob that names an existing folder. Only a glob that ends in a slash means a folder with all its files.
 */
export function withSlash(folder: string, glob: string): string {
  const name = glob.replace(/^!/u, '');
  return !name.endsWith('/') && isFolder(resolve(folder, name)) ? `${glob}/` : glob;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
