/**
 * Stores which configurations from cloned repositories the user trusts. An untrusted configuration may not run commands, open the
 * network, choose where notifications are stored, or take another root's name. Nor may such a configuration speak to the model
 * with Earpiece's authority, or weaken a person's messages. The consent is stored for the file's real path and for exactly the
 * trusted parts. After a change of these parts, the user has to consent again. The scripts that a command runs are not checked.
 */
import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readLimited } from '../input/index.ts';
import { EarpieceError } from '../core/errors.ts';
import { MAX_BYTES, checkConfigText, type Entry } from './check.ts';
import type { Demand } from './foreign.ts';
import { lock } from './lock.ts';
import { stateFolder, type Surroundings } from './places.ts';
import { readState, unreadable, writeState } from './state-file.ts';

/** The parts of a file that need trust, one line each for people. */
export type Untrusted = { readonly file: string; readonly what: readonly string[] };

/** Returns the line that a process prints when it continues without these parts. */
export const untrustedTold = ({ file, what }: Untrusted): string =>
  `${file}: these settings are ignored until you read the file and run earpiece trust: ${what.join('; ')}`;

export type TrustBook = {
  /** Whether the file is trusted. A file without parts that need trust counts as trusted. */
  readonly isTrusted: (file: string) => boolean;
  /** Returns the current parts of the file that need trust but are not trusted. */
  readonly asking: (file: string) => Untrusted;
  /** Returns the current parts of the file that need trust and are trusted. */
  readonly allowed: (file: string) => Untrusted;
  /**
   * Trusts the current parts and returns them. `seen` is the result of `print` at the time when a person saw the parts. Throws
   * `conflict` if the parts have changed since then.
   */
  readonly trust: (file: string, seen?: string) => Untrusted;
  /** Returns a hash that changes with the parts of the file that need trust. */
  readonly print: (file: string) => string;
  /** Trusts these keys too, with their current values. The trust of other keys stays. */
  readonly allow: (file: string, keys: readonly string[]) => void;
  /** Removes the trust. Returns false if the file was not trusted. */
  readonly untrust: (file: string) => boolean;
  readonly list: () => readonly string[];
  /** Whether a part of the file was trusted and that trust was not withdrawn. */
  readonly isListed: (file: string) => boolean;
};

export const trustFile = (at: Surroundings): string => join(stateFolder(at), 'trusted.json');

/**
 * Throws `bad_config` if the list of trusted files cannot be read. The command `earpiece trust` calls this function first. Other
 * code trusts nothing if the list cannot be read.
 */
export function checkTrustFile(at: Surroundings): void {
  const code = unreadable(trustFile(at));
  if (code === undefined) return;
  throw new EarpieceError(
    'bad_config',
    `${trustFile(at)} cannot be read (${code}), so nothing is trusted; give yourself access to the folder ${stateFolder(at)}, or set XDG_STATE_HOME`,
  );
}

/** Opens the list of trusted files. `foreign` finds additional parts that need trust here, see `foreign.ts`. */
export function trustBook(at: Surroundings, foreign: Demand = () => undefined): TrustBook {
  const asked = (of: string): readonly Entry[] => entriesOf(of).filter((entry) => demand(entry, foreign) !== undefined);
  const waiting = (of: string): readonly Entry[] => {
    const entries = entriesOf(of);
    return asked(of).filter((entry) => !isAllowed(readBook(at), of, entry, entries));
  };
  const whatOf = (entries: readonly Entry[]): readonly string[] => entries.map((entry) => demand(entry, foreign) ?? '');
  return {
    isTrusted: (of) => waiting(of).length === 0,
    asking: (of) => ({ file: realPath(of), what: whatOf(waiting(of)) }),
    allowed: (of) => {
      const held = new Set(waiting(of).map(({ key }) => key));
      return { file: realPath(of), what: whatOf(asked(of).filter(({ key }) => !held.has(key))) };
    },
    print: (of) => fingerprint(asked(of)),
    trust: (of, seen) => {
      const entries = entriesOf(of);
      const asking = entries.filter((entry) => demand(entry, foreign) !== undefined);
      const path = realPath(of);
      if (seen !== undefined && seen !== fingerprint(asking))
        throw new EarpieceError(
          'conflict',
          `${path} has changed since you read the file, so nothing was trusted; read the file again`,
          {},
        );
      changeBook(at, ({ files, parts }) => {
        // A name needs trust only while another root has this name, so an earlier consent to the name is kept.
        const kept = Object.entries(parts[path] ?? {}).filter(([key]) => key === 'project' || key === 'address');
        return {
          files: { ...files, [path]: fingerprint(entries.filter(isOfFirstRelease)) },
          parts: { ...parts, [path]: { ...Object.fromEntries(kept), ...hashes(asking) } },
        };
      });
      return { file: path, what: whatOf(asking) };
    },
    allow: (of, keys) => {
      const mine = keys.length === 0 ? [] : asked(of).filter(({ key }) => keys.includes(key));
      if (mine.length === 0) return;
      const path = realPath(of);
      changeBook(at, ({ files, parts }) => ({ files, parts: { ...parts, [path]: { ...parts[path], ...hashes(mine) } } }));
    },
    untrust: (of) => {
      const path = realPath(of);
      let was = false;
      changeBook(at, (book) => {
        const { [path]: removed, ...files } = book.files;
        const { [path]: removedParts, ...parts } = book.parts;
        was = removed !== undefined || removedParts !== undefined;
        return was ? { files, parts } : undefined;
      });
      return was;
    },
    isListed: (of) => {
      const { files, parts } = readBook(at);
      return files[realPath(of)] !== undefined || parts[realPath(of)] !== undefined;
    },
    list: () => [...new Set([...Object.keys(readBook(at).files), ...Object.keys(readBook(at).parts)])],
  };
}

/** Applies a change to the list of trusted files. Writes nothing if `change` returns undefined. */
function changeBook(at: Surroundings, change: (book: Book) => Omit<Book, 'version'> | undefined): void {
  const file = trustFile(at);
  const letGo = lock(file);
  try {
    const next = change(readBook(at));
    if (next !== undefined) writeState(file, { version: 1, ...next } satisfies Book);
  } finally {
    letGo();
  }
}

/** Opens the list of trusted folders: projects' folders whose files contain instructions for agents. */
export function trustedFolders(at: Surroundings): {
  /** Returns a text that changes when the trust changes. */
  readonly state: () => string;
  readonly isTrusted: (folder: string) => boolean;
  readonly trust: (folder: string) => void;
} {
  const file = trustFile(at);
  const state = (): string => {
    try {
      const stat = statSync(file, { throwIfNoEntry: false });
      return stat === undefined ? '' : `${stat.ino}:${stat.size}:${stat.mtimeMs}`;
    } catch {
      return '';
    }
  };
  let book: Book | undefined;
  let of: string | undefined;
  return {
    state,
    isTrusted: (folder) => {
      const now = state();
      if (now !== of || book === undefined) [of, book] = [now, readBook(at)];
      return book.parts[realPath(folder)] !== undefined;
    },
    trust: (folder) => {
      changeBook(at, ({ files, parts }) => ({ files, parts: { ...parts, [realPath(folder)]: {} } }));
    },
  };
}

/** Splits the entries of the project's file into entries in effect and entries that wait for trust. */
export function sift(
  entries: readonly Entry[],
  file: string,
  at: Surroundings,
  foreign: Demand = () => undefined,
): { trusted: readonly Entry[]; held: readonly Entry[]; untrusted: readonly Untrusted[] } {
  const asking = entries.filter((entry) => demand(entry, foreign) !== undefined);
  if (asking.length === 0) return { trusted: entries, held: [], untrusted: [] };
  const book = readBook(at);
  const held = asking.filter((entry) => !isAllowed(book, file, entry, entries));
  if (held.length === 0) return { trusted: entries, held: [], untrusted: [] };
  return {
    trusted: entries.filter((entry) => !held.includes(entry)),
    held,
    untrusted: [{ file, what: held.map((entry) => demand(entry, foreign) ?? '') }],
  };
}

function demand(entry: Entry, foreign: Demand): string | undefined {
  const what = entry.setting.needsTrust?.(entry.value) ?? foreign(entry);
  return what === undefined || !entry.setting.pattern.includes('*') ? what : `${entry.key} (${what})`;
}

/**
 * Versions before 0.1.0 read only `files`: one hash of all parts that need trust in those versions. `parts` has one hash for each
 * key, so that a key that needs trust only in a later release does not invalidate the other keys.
 */
type Book = {
  readonly version: 1;
  readonly files: Readonly<Record<string, string>>;
  readonly parts: Readonly<Record<string, Readonly<Record<string, string>>>>;
};

const isBook = (value: unknown): value is Omit<Book, 'parts'> & Partial<Book> =>
  typeof value === 'object' && value !== null && 'files' in value && typeof value.files === 'object' && value.files !== null;

function readBook(at: Surroundings): Book {
  const { files = {}, parts } = readState(trustFile(at), isBook) ?? {};
  return { version: 1, files, parts: typeof parts === 'object' && parts !== null ? parts : {} };
}

function isAllowed({ files, parts }: Book, file: string, entry: Entry, entries: readonly Entry[]): boolean {
  const path = realPath(file);
  if (parts[path]?.[entry.key] === fingerprint([entry])) return true;
  return isOfFirstRelease(entry) && files[path] !== undefined && files[path] === fingerprint(entries.filter(isOfFirstRelease));
}

/** Whether the part already needed trust before 0.1.0. */
const isOfFirstRelease = ({ setting, value }: Entry): boolean =>
  setting.needsTrust?.(value) !== undefined && !SINCE_FIRST.test(setting.pattern.join('.'));
const SINCE_FIRST =
  /^(?:(?:agent|wake|ttl|max_level|gateway\.profiles)\.|(?:archive|view|interrupt|budget\.max_item_chars|gateway\.(?:separator|http\.token_env))$)/;

const hashes = (entries: readonly Entry[]): Readonly<Record<string, string>> =>
  Object.fromEntries(entries.map((entry) => [entry.key, fingerprint([entry])]));

function fingerprint(entries: readonly Entry[]): string {
  const parts = entries.map((entry) => [entry.key, sorted(entry.value)] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Copies a value with sorted keys, so that moving a line is not a change. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const pairs = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.map(([name, inner]) => [name, sorted(inner)]);
}

function entriesOf(file: string): readonly Entry[] {
  let text: string;
  try {
    text = readLimited(file, MAX_BYTES).toString('utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new EarpieceError(
      code === 'ENOENT' ? 'not_found' : 'bad_argument',
      `${file} cannot be read (${code}); name a readable earpiece.toml`,
      { cause },
    );
  }
  return checkConfigText(text, file).entries;
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
}
