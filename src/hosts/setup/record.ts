/**
 * Keeps the record of the installation: for each file, the text without Earpiece's entries, and digests of the written texts. The
 * record is written before the file, so uninstall can undo every change even if the process is killed between the two writes.
 */
import { createHash } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readState, stateFolder, unreadable, writeState, type Surroundings } from '../../config/index.ts';
import { EarpieceError } from '../../core/errors.ts';
import { keepPrivate, makeFolders, readLimited } from '../../input/index.ts';
import type { Scope } from './setup.ts';

/**
 * The size of the largest file that is read, in bytes. Claude Code keeps its whole history in one file with its servers, so the
 * limit is high.
 */
export const MAX_BYTES = 64 * 1_048_576;

export type Recorded = {
  readonly host: string;
  readonly scope: Scope;
  readonly project: string;
  readonly file: string;
  /** The text without Earpiece's entries, as before the installation. Null if the file did not exist. */
  readonly base: string | null;
  /** The SHA-256 of each text that Earpiece wrote to the file since `base`. */
  readonly written: readonly string[];
  /** The folders that Earpiece made for the file, the outermost first. */
  readonly folders: readonly string[];
};

/** The stored records, in which `base` is the SHA-256 of the backup. */
type Book = { readonly version: 1; readonly files: Readonly<Record<string, Recorded>> };

export interface InstallBook {
  /** Throws `bad_config` if the stored records exist and cannot be read, because the installed files are then unknown. */
  check(): void;
  /**
   * Returns the reason, for people, why the saved bytes of a file cannot be read. Returns undefined if the bytes can be read or
   * no longer exist.
   */
  trouble(file: string): string | undefined;
  list(): readonly Recorded[];
  get(file: string): Recorded | undefined;
  put(entry: Recorded): void;
  /** Returns the path under which `drop` keeps the saved bytes of a file; undefined if there are no saved bytes. */
  keptAs(file: string): string | undefined;
  /**
   * Forgets a file. `keep`: the saved bytes stay, under the path of `keptAs`, because they were not restored. A backup that has
   * changed since the installation stays too.
   */
  drop(file: string, how?: { readonly keep: boolean }): void;
}

export function installBook(at: Surroundings): InstallBook {
  const folder = join(stateFolder(at), 'installed');
  const index = join(folder, 'files.json');
  const backupOf = (file: string): string => join(folder, `${digest(file).slice(0, 24)}.before`);
  const files = (): Book['files'] => readState(index, isBook)?.files ?? {};
  /**
   * Returns the record with its backup. A record with a lost or changed backup does not count, so uninstall then removes only
   * Earpiece's own entries.
   */
  const whole = (stored: Recorded): Recorded | undefined => {
    if (stored.base === null) return stored;
    try {
      const base = readLimited(backupOf(stored.file), MAX_BYTES).toString('utf8');
      return digest(base) === stored.base ? { ...stored, base } : undefined;
    } catch {
      return undefined;
    }
  };
  // The name depends on the content, so a later installation does not replace the kept bytes.
  const keptAs = (file: string): string | undefined => {
    const stored = files()[file];
    const base = stored === undefined || whole(stored) === undefined ? null : stored.base;
    return base === null ? undefined : join(folder, `${digest(file).slice(0, 12)}-${base.slice(0, 12)}.kept`);
  };
  return {
    check() {
      const code = unreadable(index);
      if (code === undefined) return;
      throw new EarpieceError(
        'bad_config',
        `${index} cannot be read (${code}), so your settings from before earpiece install are unknown and nothing was changed. Give yourself access to the folder ${stateFolder(at)}, or move it away with its database: then Earpiece removes only its own entries`,
      );
    },
    trouble(file) {
      const code = files()[file]?.base == null ? undefined : unreadable(backupOf(file), MAX_BYTES);
      if (code === undefined) return undefined;
      return `the backup of ${file} from before earpiece install cannot be read (${code}); make ${backupOf(file)} readable, or move it away to remove only Earpiece's entries`;
    },
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
    keptAs,
    drop(file, { keep: keeps } = { keep: false }) {
      const stored = files()[file];
      if (stored === undefined) return;
      const isUsable = whole(stored) !== undefined;
      const aside = keeps ? keptAs(file) : undefined;
      if (aside !== undefined) renameSync(backupOf(file), aside);
      writeState(index, { version: 1, files: Object.fromEntries(Object.entries(files()).filter(([name]) => name !== file)) });
      if (isUsable) rmSync(backupOf(file), { force: true });
    },
  };
}

/** Writes a backup that only its owner can read, because settings may contain keys. */
function keep(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  try {
    makeFolders(dirname(file));
    keepPrivate(dirname(file));
    writeFileSync(draft, text, { mode: 0o600, flush: true });
    renameSync(draft, file);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new EarpieceError(
      'bad_config',
      `${file} cannot be written (${code ?? message}); make ${dirname(file)} writable or set XDG_STATE_HOME`,
      { cause },
    );
  }
}

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

const isBook = (value: unknown): value is Book =>
  (value as Book | null)?.version === 1 &&
  Object.values((value as Book).files ?? {}).every(
    ({ file, base, written }) =>
      typeof file === 'string' && (base === null || typeof base === 'string') && Array.isArray(written),
  );
