/**
 * A configuration that came with a cloned repository may shape what is delivered, but not run commands, open the network
 * or say where notifications are kept, until its user has said so once. What was said is kept for the file's real path
 * and for exactly those parts: when they change, it is asked anew. What a command's own script does is not looked at.
 */
import { createHash } from 'node:crypto';
import { readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EarpieceError } from '../core/errors.ts';
import { checkConfigText, type Entry } from './check.ts';
import { stateFolder, type Surroundings } from './places.ts';
import { readState, writeState } from './state-file.ts';

/** What of a file needs trust, one line each for people. */
export type Untrusted = { readonly file: string; readonly what: readonly string[] };

export type TrustBook = {
  /** Also true for a file in which nothing needs trust. */
  readonly isTrusted: (file: string) => boolean;
  /** Says yes to what the file holds now; returns what that is. */
  readonly trust: (file: string) => Untrusted;
  /** False when it was not trusted. */
  readonly untrust: (file: string) => boolean;
  readonly list: () => readonly string[];
};

export const trustFile = (at: Surroundings): string => join(stateFolder(at), 'trusted.json');

export function trustBook(at: Surroundings): TrustBook {
  const book = trustFile(at);
  const load = (): Book => readState(book, isBook) ?? { version: 1, files: {} };
  return {
    isTrusted: (file) => {
      const asking = entriesOf(file).filter((entry) => demand(entry) !== undefined);
      return asking.length === 0 || load().files[realPath(file)] === fingerprint(asking);
    },
    trust: (file) => {
      const asking = entriesOf(file).filter((entry) => demand(entry) !== undefined);
      const { files } = load();
      writeState(book, { version: 1, files: { ...files, [realPath(file)]: fingerprint(asking) } } satisfies Book);
      return { file: realPath(file), what: asking.map((entry) => demand(entry) ?? '') };
    },
    untrust: (file) => {
      const { [realPath(file)]: removed, ...files } = load().files;
      if (removed !== undefined) writeState(book, { version: 1, files } satisfies Book);
      return removed !== undefined;
    },
    list: () => Object.keys(load().files),
  };
}

/** Parts the entries of a project's file into those that count and those that wait for trust. */
export function sift(
  entries: readonly Entry[],
  file: string,
  at: Surroundings,
): { trusted: readonly Entry[]; held: readonly Entry[]; untrusted: readonly Untrusted[] } {
  const asking = entries.filter((entry) => demand(entry) !== undefined);
  if (asking.length === 0) return { trusted: entries, held: [], untrusted: [] };
  const book = readState(trustFile(at), isBook);
  if (book?.files[realPath(file)] === fingerprint(asking)) return { trusted: entries, held: [], untrusted: [] };
  const held = new Set(asking);
  return {
    trusted: entries.filter((entry) => !held.has(entry)),
    held: asking,
    untrusted: [{ file, what: asking.map((entry) => demand(entry) ?? '') }],
  };
}

function demand(entry: Entry): string | undefined {
  const what = entry.setting.needsTrust?.(entry.value);
  return what === undefined || !entry.setting.pattern.includes('*') ? what : `${entry.key} (${what})`;
}

type Book = { readonly version: 1; readonly files: Readonly<Record<string, string>> };

const isBook = (value: unknown): value is Book =>
  typeof value === 'object' && value !== null && 'files' in value && typeof value.files === 'object' && value.files !== null;

function fingerprint(entries: readonly Entry[]): string {
  const parts = entries.map((entry) => [entry.key, sorted(entry.value)] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** The same value, its tables' keys in one order: moving a line is no change. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const pairs = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.map(([name, inner]) => [name, sorted(inner)]);
}

function entriesOf(file: string): readonly Entry[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new EarpieceError('not_found', `${file} cannot be read (${code}); name the earpiece.toml that you mean`, { cause });
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
