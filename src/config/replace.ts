/**
 * Changes a person's file safely from several processes: changes are made one after the other, and each is written completely or
 * not at all. As in git, the draft of the new text is also the lock. The process that creates the draft may change the file.
 * Renaming the draft replaces the file and releases the lock.
 */
import {
  chownSync,
  closeSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
  type Stats,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EarpieceError } from '../core/errors.ts';
import { makeFolders, readLimited } from '../input/index.ts';

export type ReplaceOptions = {
  /** The mode of a new file. */
  readonly mode: number;
  /**
   * The maximum time to wait for another process, in ms. Default 5,000. Changes within one process wait for each other without a
   * limit.
   */
  readonly withinMs?: number;
  /** The maximum size of the file. Default 1 MB, more than any configuration of Earpiece needs. */
  readonly maxBytes?: number;
};

/**
 * Changes a file. `change` gets the text of the file (`''` if there is no file) and returns the new text. If `change` throws, the
 * file stays unchanged, and the caller gets the exception. Returns false, and writes nothing, if the text stays the same. Follows
 * links. Keeps the mode, and the owner if the user may set it. Throws `bad_config` for a file that cannot be read or written, and
 * `conflict` if another process holds the lock or has just saved the file.
 */
export async function replaceFile(file: string, change: (text: string) => string, options: ReplaceOptions): Promise<boolean> {
  const target = tried(file, () => targetOf(file));
  const before = TURNS.get(target);
  const mine = Promise.resolve(before).then(() => replace(target, change, options));
  const settled = mine.then(
    () => undefined,
    () => undefined,
  );
  TURNS.set(target, settled);
  try {
    return await mine;
  } finally {
    if (TURNS.get(target) === settled) TURNS.delete(target);
  }
}

/** The latest unfinished change of this process for each file. */
const TURNS = new Map<string, Promise<void>>();

async function replace(target: string, change: (text: string) => string, options: ReplaceOptions): Promise<boolean> {
  const draft = `${target}.lock`;
  const lock = await held(draft, options.withinMs ?? WAIT_MS);
  try {
    const was = statOf(target);
    const before = textOf(target, options.maxBytes);
    const after = change(before);
    if (after === before) return false;
    if (was !== undefined && (was.mode & 0o222) === 0)
      throw new EarpieceError(
        'bad_config',
        `${target} is read-only; make the file writable, or change the source from which it is generated`,
      );
    write(lock, after, was, options.mode);
    // Editors ignore this lock, and another process may have removed the lock as stale.
    if (statOf(draft)?.ino !== fstatSync(lock).ino || textOf(target, options.maxBytes) !== before)
      throw busy(target, 'was saved by another program at the same moment');
    if (was !== undefined) keepOwner(draft, was);
    renameSync(draft, target);
    return true;
  } catch (cause) {
    throw told(target, cause);
  } finally {
    letGo(draft, lock);
  }
}

const WAIT_MS = 5_000;
const AGAIN_MS = 15;
/** The age at which a lock is removed. A change takes milliseconds, so an older lock belongs to a dead process. */
const STALE_MS = 10_000;

async function held(draft: string, withinMs: number): Promise<number> {
  const until = Date.now() + withinMs;
  const target = draft.slice(0, -'.lock'.length);
  tried(target, () => makeFolders(dirname(draft)));
  for (;;) {
    try {
      return openSync(draft, 'wx', 0o600);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw told(target, cause);
    }
    // If the lock was released since this attempt, another process may already have created the next lock. That lock must not be
    // removed, so a missing lock counts as new.
    const since = statOf(draft)?.mtimeMs ?? Date.now();
    if (Date.now() - since > STALE_MS) rmSync(draft, { force: true });
    else if (Date.now() >= until) throw busy(target, `is being changed by another program (${draft})`);
    else await pause(AGAIN_MS);
  }
}

function letGo(draft: string, lock: number): void {
  try {
    if (statOf(draft)?.ino === fstatSync(lock).ino) rmSync(draft, { force: true });
  } finally {
    closeSync(lock);
  }
}

/** Resolves links to their target, even if that file does not exist yet. */
export function targetOf(file: string, links = 0): string {
  try {
    return realpathSync(file);
  } catch {
    // The file does not exist, or a link has no target.
  }
  const folder = dirname(file);
  let real: string;
  try {
    real = join(realpathSync(folder), file.slice(folder.length));
  } catch {
    return resolve(file);
  }
  const link = lstatSync(real, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return link && links < MAX_LINKS ? targetOf(resolve(dirname(real), readlinkSync(real)), links + 1) : real;
}

const MAX_LINKS = 40;
const MAX_BYTES = 1_048_576;

/** Reads the text of a file. Throws for bytes that are not UTF-8, because writing these bytes back would change them. */
function textOf(file: string, maxBytes = MAX_BYTES): string {
  if (statOf(file) === undefined) return '';
  const bytes = readLimited(file, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new EarpieceError('bad_config', `${file} is not UTF-8; save the file as UTF-8 in your editor first`, { cause });
  }
}

function write(lock: number, text: string, was: Stats | undefined, mode: number): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) at += writeSync(lock, bytes, at);
  fchmodSync(lock, was === undefined ? mode : was.mode & 0o7777);
  fsyncSync(lock);
}

/**
 * Gives the draft the owner of the old file. Only a privileged user can change an owner. After a change by another user, the file
 * belongs to that user.
 */
function keepOwner(draft: string, { uid, gid }: Stats): void {
  const now = statSync(draft);
  if (now.uid === uid && now.gid === gid) return;
  try {
    chownSync(draft, uid, gid);
  } catch {
    // The user is not allowed to change the owner.
  }
}

function statOf(file: string): Stats | undefined {
  return statSync(file, { throwIfNoEntry: false });
}

const busy = (file: string, what: string): EarpieceError =>
  new EarpieceError('conflict', `${file} ${what}; nothing was changed, try again`, { retryable: true });

function tried<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw told(file, cause);
  }
}

function told(file: string, cause: unknown): unknown {
  if (cause instanceof EarpieceError) return cause;
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === undefined) return cause;
  return new EarpieceError(
    'bad_config',
    `${file} cannot be changed (${code}); make the file and its folder writable, and check that the disk has free space`,
    { cause },
  );
}
