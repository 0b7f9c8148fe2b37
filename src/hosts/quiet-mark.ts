/**
 * Marks sessions that need no hook: small files named by the session, whose times enclose those of the database and of its
 * `-wal`. The shell line of a hook compares the times and ends without a new process. A change of any kind moves one of
 * the times out of its bounds, also into the past: a copy with its old time, or a clock that is set back. Imports no other module
 * of Earpiece, because each hook call loads it.
 */

/** Read from `process` instead of imported: an import also loads streams and promises, which would slow each hook call. */
const { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } = process.getBuiltinModule('node:fs');

/**
 * Some file systems and shells know whole seconds only, so a more recent change could be followed by another one with the same
 * time.
 */
const SETTLED_MS = 2_000;

/** Below the state folder. */
export const quietFolder = (state: string): string => `${state}/quiet`;

/** `quiet`: nothing waits for the session. `free`: something may wait, but nothing holds its gate. */
export type Mark = 'quiet' | 'free';

const ENDINGS: Readonly<Record<Mark, string>> = { quiet: '', free: '.free' };

const isName = (session: string): boolean => /^[\w-]{1,100}$/.test(session);

/** The last changes of the two files, epoch ms. */
export type Changed = { readonly database: number; readonly wal: number | undefined };

/** Undefined if the times prove nothing yet. Call this before reading the database. */
export function settledSince(database: string, now: number): Changed | undefined {
  const [main, wal] = [database, `${database}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs);
  return main !== undefined && Math.max(main, wal ?? 0) < now - SETTLED_MS ? { database: main, wal } : undefined;
}

/** Throws if the folder cannot be written. */
export function leaveMark(kind: Mark, state: string, session: string, database: string, { database: main, wal }: Changed): void {
  if (!isName(session) || database.includes('\n')) return;
  mkdirSync(quietFolder(state), { recursive: true, mode: 0o700 });
  const mark = `${quietFolder(state)}/${session}${ENDINGS[kind]}`;
  // No mark may exist while its bounds come from two moments.
  rmSync(mark, { force: true });
  if (wal === undefined) rmSync(`${mark}.wal`, { force: true });
  else enclose(`${mark}.wal`, '', wal);
  enclose(mark, `${database}\n`, main);
}

/** Two files, because Node cannot set nanoseconds: one is a little older than the time, and `.to` a little younger. */
function enclose(file: string, text: string, time: number): void {
  place(`${file}.to`, '', time + 1);
  place(file, text, time - 1);
}

/** Creates the file and sets its time in one step. */
function place(file: string, text: string, time: number): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  utimesSync(draft, time / 1_000, time / 1_000);
  renameSync(draft, file);
}

/** `over`: the session ends. Never throws. */
export function forgetMarks(state: string, session: string, { over }: { readonly over: boolean }): void {
  if (!isName(session)) return;
  // The mark goes first, because the other files mean nothing without it.
  const marks = Object.values(ENDINGS).flatMap((ending) => ['', '.to', '.wal', '.wal.to'].map((part) => `${ending}${part}`));
  for (const ending of over ? [...marks, SERVER] : marks)
    try {
      rmSync(`${quietFolder(state)}/${session}${ending}`, { force: true });
    } catch {
      // The mark becomes invalid anyway once a notification is written.
    }
}

type Started = { readonly pid: number; readonly startedAt: string };

/** This process answers the batch ends of the session. Never throws. */
export function noteServer(state: string, session: string, { pid, startedAt }: Started): void {
  if (!isName(session)) return;
  try {
    mkdirSync(quietFolder(state), { recursive: true, mode: 0o700 });
    writeFileSync(`${quietFolder(state)}/${session}${SERVER}`, `${pid} ${startedAt}\n`, { mode: 0o600 });
  } catch {
    // Then a command carries too.
  }
}

/** Whether the process lives that answers the batch ends of the session. Another process may have its id since. Never throws. */
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
  /** Names the session in the hook's environment. */
  readonly variable: string;
};

/**
 * For a POSIX shell: exits if the mark of this session is valid. In any doubt it continues. Shells differ for missing files, so it
 * first tests that each file exists.
 */
export function endsEarly(state: string, { mark, variable }: Ending, quote: (word: string) => string): string {
  const file = `s=${quote(`${quietFolder(state)}/`)}"$${variable}"`;
  const marked =
    `same() { [ -f "$1" ] && [ -f "$2" ] && [ -f "$2.to" ] && [ ! "$1" -ot "$2" ] && [ ! "$1" -nt "$2.to" ]; }; ` +
    `m="$s${ENDINGS[mark]}"; [ -f "$m" ] && read -r d <"$m" && same "$d" "$m" && ` +
    `if [ -e "$m.wal" ]; then same "$d-wal" "$m.wal"; else [ ! -e "$d-wal" ]; fi && exit 0`;
  return `${file}; ${marked}`;
}
