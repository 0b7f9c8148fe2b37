/**
 * A file of a person's, changed by several of ours: whole or not at all, one after the other. The draft is the lock (as
 * git keeps its own configuration): who could make it owns the change, and renaming it is the change and lets go.
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
  /** Of a file that is made. */
  readonly mode: number;
  /** How long to wait for another process that is at it; changes of this one wait for each other as long as it takes. */
  readonly withinMs?: number;
  /** A larger file is refused. Default: 1 MB, which no configuration of ours exceeds. */
  readonly maxBytes?: number;
};

/**
 * `change` is given what stands there (`''` where there is no file) and says what is to stand there; what it throws is
 * thrown, and nothing is changed. False when it changes nothing: then nothing is written. Links are followed, mode and
 * owner kept.
 *
 * Throws `bad_config` for a file that cannot be read or written, `conflict` when somebody else holds it or has just saved it.
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

/** The last change of this process that is under way, by file. */
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
      throw new EarpieceError('bad_config', `${target} is read-only; make it writable, or change it where it is made`);
    write(lock, after, was, options.mode);
    // Editors know nothing of our lock, and whoever waited too long for it has taken it away.
    if (statOf(draft)?.ino !== fstatSync(lock).ino || textOf(target, options.maxBytes) !== before)
      throw busy(target, 'was saved by somebody else in this moment');
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
/** Whoever holds it this long is dead: a change takes milliseconds. */
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
    // Gone meanwhile: then the next one may be somebody's already, and is not ours to take away.
    const since = statOf(draft)?.mtimeMs ?? Date.now();
    if (Date.now() - since > STALE_MS) rmSync(draft, { force: true });
    else if (Date.now() >= until) throw busy(target, `is being changed by somebody else (${draft})`);
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

/** Where links lead, also one to a file that is not there yet. */
function targetOf(file: string, links = 0): string {
  try {
    return realpathSync(file);
  } catch {
    // It is not there, or a link leads to nothing.
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

/** Text that is not UTF-8 would be another text when it is written back. */
function textOf(file: string, maxBytes = MAX_BYTES): string {
  if (statOf(file) === undefined) return '';
  const bytes = readLimited(file, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new EarpieceError('bad_config', `${file} is not UTF-8; save it as UTF-8 in your editor first`, { cause });
  }
}

function write(lock: number, text: string, was: Stats | undefined, mode: number): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) at += writeSync(lock, bytes, at);
  fchmodSync(lock, was === undefined ? mode : was.mode & 0o7777);
  fsyncSync(lock);
}

/** Only who may give files away can; for the others it is theirs already, or becomes so. */
function keepOwner(draft: string, { uid, gid }: Stats): void {
  const now = statSync(draft);
  if (now.uid === uid && now.gid === gid) return;
  try {
    chownSync(draft, uid, gid);
  } catch {
    // Not allowed.
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
    `${file} cannot be changed (${code}); make it and its folder writable, and see that there is room`,
    { cause },
  );
}
