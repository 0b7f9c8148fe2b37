/**
 * What was installed: for each file the bytes before it, kept aside, and the bytes that we wrote. It is written before the
 * file is, so that a process that is killed in between leaves nothing that uninstall cannot undo.
 */
import { createHash } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readState, stateFolder, writeState, type Surroundings } from '../../config/index.ts';
import { keepPrivate, makeFolders, readLimited } from '../../input/index.ts';
import type { Scope } from './setup.ts';

/** Claude Code keeps its whole history beside its servers. */
export const MAX_BYTES = 64 * 1_048_576;

export type Recorded = {
  readonly host: string;
  readonly scope: Scope;
  readonly project: string;
  readonly file: string;
  /** The text before the first installation; null: there was no file. */
  readonly base: string | null;
  /** SHA-256 of each text that we wrote over it. */
  readonly written: readonly string[];
  /** Folders that we made, the outermost first. */
  readonly folders: readonly string[];
};

/** In the book a base is the SHA-256 of its backup. */
type Book = { readonly version: 1; readonly files: Readonly<Record<string, Recorded>> };

export interface InstallBook {
  list(): readonly Recorded[];
  get(file: string): Recorded | undefined;
  put(entry: Recorded): void;
  drop(file: string): void;
}

export function installBook(at: Surroundings): InstallBook {
  const folder = join(stateFolder(at), 'installed');
  const index = join(folder, 'files.json');
  const backupOf = (file: string): string => join(folder, `${digest(file).slice(0, 24)}.before`);
  const files = (): Book['files'] => readState(index, isBook)?.files ?? {};
  /** A backup that is lost or changed is none: then uninstall takes out our entries alone. */
  const whole = (stored: Recorded): Recorded | undefined => {
    if (stored.base === null) return stored;
    try {
      const base = readLimited(backupOf(stored.file), MAX_BYTES).toString('utf8');
      return digest(base) === stored.base ? { ...stored, base } : undefined;
    } catch {
      return undefined;
    }
  };
  return {
    list: () => Object.values(files()).flatMap((stored) => whole(stored) ?? []),
    get(file) {
      const stored = files()[file];
      return stored === undefined ? undefined : whole(stored);
    },
    put(entry) {
      const base = entry.base === null ? null : digest(entry.base);
      if (entry.base !== null) keep(backupOf(entry.file), entry.base);
      writeState(index, { version: 1, files: { ...files(), [entry.file]: { ...entry, base } } } satisfies Book);
    },
    drop(file) {
      writeState(index, { version: 1, files: Object.fromEntries(Object.entries(files()).filter(([name]) => name !== file)) });
      rmSync(backupOf(file), { force: true });
    },
  };
}

/** For its owner only: settings may hold keys. */
function keep(file: string, text: string): void {
  makeFolders(dirname(file));
  keepPrivate(dirname(file));
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600, flush: true });
  renameSync(draft, file);
}

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const isBook = (value: unknown): value is Book =>
  (value as Book | null)?.version === 1 &&
  Object.values((value as Book).files ?? {}).every(
    ({ file, base, written }) =>
      typeof file === 'string' && (base === null || typeof base === 'string') && Array.isArray(written),
  );
