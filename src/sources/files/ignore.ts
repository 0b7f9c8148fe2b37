/**
 * Decides which paths below a folder are not followed: `.git`, `node_modules`, temporary files of editors, and files that a
 * `.gitignore` in or below the folder excludes. Earpiece itself reads each `.gitignore`, and only once, because a `git
 * check-ignore` process for each path would be too slow. So `.git/info/exclude`, a user's global file and files above the folder
 * have no effect, and a changed `.gitignore` takes effect after `forget`.
 */
import { join } from 'node:path';

import { readLimited } from '../../input/index.ts';
import { matches, parsePattern, type Pattern } from './glob.ts';

type Rule = { readonly pattern: Pattern; readonly negated: boolean; readonly folderOnly: boolean };

/** Paths that are always ignored, including the temporary files of Vim, Emacs, Kate and JetBrains. */
const ALWAYS: readonly Pattern[] = [
  '.git',
  'node_modules',
  '*~',
  '.*.sw?',
  '4913',
  '.#*',
  '#*#',
  '.*.kate-swp',
  '*___jb_tmp___',
  '*___jb_old___',
].map(parsePattern);

const NO_RULES: readonly Rule[] = [];

export class Ignored {
  readonly #root: string;
  /** The rules of each folder. The key is the folder's path relative to the root. */
  #rules = new Map<string, readonly Rule[]>();
  #folders = new Map<string, boolean>();

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * Whether a path is ignored. `names` are the names of the path from the root down. For the kind `unknown`, a false result may
   * become true when the kind is known.
   */
  has(names: readonly string[], kind: 'file' | 'folder' | 'unknown'): boolean {
    const last = names.at(-1);
    if (last === undefined) return false;
    // All paths below an ignored folder are ignored, even if an ignore file in that folder includes them.
    if (this.#folder(names.slice(0, -1))) return true;
    return ALWAYS.some((pattern) => matches(pattern, [last])) || this.#says(names, kind);
  }

  /** Makes the next check read the rules of this folder again. */
  forget(folder: readonly string[]): void {
    this.#rules.delete(folder.join('/'));
    this.#folders.clear();
  }

  #folder(names: readonly string[]): boolean {
    const name = names.join('/');
    let ignored = this.#folders.get(name);
    if (ignored === undefined) this.#folders.set(name, (ignored = this.has(names, 'folder')));
    return ignored;
  }

  /** Whether the rules ignore a path. The nearest `.gitignore` with a matching rule decides, by its last matching rule. */
  #says(names: readonly string[], kind: 'file' | 'folder' | 'unknown'): boolean {
    for (let depth = names.length - 1; depth >= 0; depth--) {
      const inside = names.slice(depth);
      const rule = this.#of(names.slice(0, depth)).findLast(
        ({ pattern, folderOnly }) => (!folderOnly || kind === 'folder') && matches(pattern, inside),
      );
      if (rule !== undefined) return !rule.negated;
    }
    return false;
  }

  #of(folder: readonly string[]): readonly Rule[] {
    const name = folder.join('/');
    let rules = this.#rules.get(name);
    if (rules === undefined) this.#rules.set(name, (rules = read(join(this.#root, ...folder, '.gitignore'))));
    return rules;
  }
}

const MAX_BYTES = 1_048_576;

function read(file: string): readonly Rule[] {
  try {
    return parseIgnore(readLimited(file, MAX_BYTES).toString('utf8'));
  } catch {
    // A missing or unreadable file ignores nothing.
    return NO_RULES;
  }
}

export function parseIgnore(text: string): readonly Rule[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const written = line.replace(/^\uFEFF/, '').replace(/(?<!\\)[ \t]+$/, '');
    if (written === '' || written.startsWith('#')) return [];
    const negated = written.startsWith('!');
    const rule = negated ? written.slice(1) : written;
    const folderOnly = rule.endsWith('/');
    const path = folderOnly ? rule.slice(0, -1) : rule;
    if (path === '') return [];
    // A pattern with a slash before its end is relative to the file's folder. A pattern that ends in `/**` matches the content of
    // a folder, but not the folder itself.
    const anchored = path.includes('/');
    const inside = path.endsWith('/**') ? `${path}/*` : path;
    return [{ pattern: parsePattern(anchored ? inside : `**/${inside}`), negated, folderOnly }];
  });
}
