/**
 * Writes quiet marks for sessions whose hooks have nothing to do at present. A quiet mark is a set of small files, named after
 * the session. The times of these files are just before and after the times of the database and of its `-wal`. The shell line of
 * a hook compares the times, and ends without starting Earpiece if the quiet mark is valid. Any change of the database moves one
 * of its times out of these bounds, even if a copy with an old time replaces the database. The same is true after the clock was
 * set back. This module imports no other module of Earpiece, because each hook call loads it.
 */

/**
 * These functions are not imported, because an import of `node:fs` also loads streams and promises, which slows down each hook
 * call.
 */
const { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } = process.getBuiltinModule('node:fs');

/**
 * The minimum age of the database's last change for a quiet mark. Some file systems and shells know only whole seconds, so two
 * recent changes may have the same time.
 */
const SETTLED_MS = 2_000;

/** Returns the folder of the quiet marks, below the state folder. */
export const quietFolder = (state: string): string => `${state}/quiet`;

/** `free`: no gate is up for the session. `quiet`: no gate is up, and no notification is open or still to be proven. */
export type Mark = 'quiet' | 'free';

const ENDINGS: Readonly<Record<Mark, string>> = { quiet: '', free: '.free' };

const isName = (session: string): boolean => /^[\w-]{1,100}$/.test(session);

/** The times of the last changes of the database and of its `-wal`, in milliseconds since the epoch. */
export type Changed = { readonly database: number; readonly wal: number | undefined };

/**
 * Returns the times of the database; undefined if there is no database or its last change is too recent for a quiet mark. Call
 * `settledSince` before reading the database.
 */
export function settledSince(database: string, now: number): Changed | undefined {
  const [main, wal] = [database, `${database}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs);
  return main !== undefined && Math.max(main, wal ?? 0) < now - SETTLED_MS ? { database: main, wal } : undefined;
}

/** Writes a quiet mark. Throws if the folder cannot be written. */
export function leaveMark(kind: Mark, state: string, session: string, database: string, { database: main, wal }: Changed): void {
  if (!isName(session) || database.includes('\n')) return;
  mkdirSync(quietFolder(state), { recursive: true, mode: 0o700 });
  const mark = `${quietFolder(state)}/${session}${ENDINGS[kind]}`;
  // The old quiet mark is removed first, because the old files must not be mixed with the new files.
  rmSync(mark, { force: true });
  if (wal === undefined) rmSync(`${mark}.wal`, { force: true });
  else enclose(`${mark}.wal`, '', wal);
  enclose(mark, `${database}\n`, main);
}

/**
 * Makes two files: the time of `file` is 1 ms before `time`, and the time of `file.to` is 1 ms after `time`. One file with
 * exactly this time is not possible, because Node cannot set nanoseconds.
 */
function enclose(file: string, text: string, time: number): void {
  place(`${file}.to`, '', time + 1);
  place(file, text, time - 1);
}

/** Writes a file with its time already set, and replaces an older file in one step. */
function place(file: string, text: string, time: number): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  utimesSync(draft, time / 1_000, time / 1_000);
  renameSync(draft, file);
}

type Forgotten = {
  /** Whether the session has ended. If so, the note of its server is removed too. */
  readonly over: boolean;
  /** The path of a database. Its marks stay, because any change of the database makes them invalid. */
  readonly unless?: string | undefined;
};

/** Removes the quiet marks of a session. Never throws. */
export function forgetMarks(state: string, session: string, { over, unless }: Forgotten): void {
  if (!isName(session)) return;
  const marked = Object.values(ENDINGS).filter((ending) => over || !isOf(unless, `${quietFolder(state)}/${session}${ending}`));
  // The main file of a quiet mark is removed first, because the other files have no effect without the main file.
  const marks = marked.flatMap((ending) => ['', '.to', '.wal', '.wal.to'].map((part) => `${ending}${part}`));
  for (const ending of over ? [...marks, SERVER] : marks)
    try {
      rmSync(`${quietFolder(state)}/${session}${ending}`, { force: true });
    } catch {
      // If the removal fails, the next written notification makes the quiet mark invalid.
    }
}

function isOf(database: string | undefined, mark: string): boolean {
  try {
    return database !== undefined && readFileSync(mark, 'utf8') === `${database}\n`;
  } catch {
    return false;
  }
}

type Started = { readonly pid: number; readonly startedAt: string };

/** Stores which process answers the ends of batches in the session. Never throws. */
export function noteServer(state: string, session: string, { pid, startedAt }: Started): void {
  if (!isName(session)) return;
  try {
    mkdirSync(quietFolder(state), { recursive: true, mode: 0o700 });
    writeFileSync(`${quietFolder(state)}/${session}${SERVER}`, `${pid} ${startedAt}\n`, { mode: 0o600 });
  } catch {
    // Without the note, the hook before a tool carries the notifications.
  }
}

/**
 * Whether the process that answers the ends of batches in the session still runs. Another process with the same pid does not
 * count. Never throws.
 */
export function serverLives(state: string, session: string, find: (pid: number) => Started | undefined): boolean {
  try {
    if (!isName(session)) return false;
    const [, pid, startedAt] = /^(\d+) (.+)\n$/.exec(readFileSync(`${quietFolder(state)}/${session}${SERVER}`, 'utf8')) ?? [];
    return pid !== undefined && find(Number(pid))?.startedAt === startedAt;
  } catch {
    return false;
  }
}

const SERVER = '.server';

export type Ending = {
  readonly mark: Mark;
  /** The variable in the hook's environment that holds the session's id. */
  readonly variable: string;
};

/**
 * Makes a line of POSIX shell. The shell exits if the quiet mark of this session is valid. In doubt, the shell continues. Shells
 * compare missing files in different ways, so the line first tests that each file exists.
 */
export function endsEarly(state: string, { mark, variable }: Ending, quote: (word: string) => string): string {
  const file = `s=${quote(`${quietFolder(state)}/`)}"$${variable}"`;
  const marked =
    `same() { [ -f "$1" ] && [ -f "$2" ] && [ -f "$2.to" ] && [ ! "$1" -ot "$2" ] && [ ! "$1" -nt "$2.to" ]; }; ` +
    `m="$s${ENDINGS[mark]}"; [ -f "$m" ] && read -r d <"$m" && same "$d" "$m" && ` +
    `if [ -e "$m.wal" ]; then same "$d-wal" "$m.wal"; else [ ! -e "$d-wal" ]; fi && exit 0`;
  return `${file}; ${marked}`;
}
