/**
 * Marks sessions that a hook has nothing to say to: small files named by the session, whose times enclose those of the database
 * and of its `-wal`. The shell line of a hook compares the times and ends without a new process. A change of any kind moves one of
 * the times out of its bounds, also into the past: a copy with its old time, or a clock that is set back. Imports no other module
 * of Earpiece, because each hook call loads it.
 */

/** Asked for, not imported: an import brings streams and promises with it, for which each hook call would pay. */
const { mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } = process.getBuiltinModule('node:fs');

/** Some file systems and shells know whole seconds only: a younger change could be followed by another of the same time. */
const SETTLED_MS = 2_000;

/** Below the state folder. */
export const quietFolder = (state: string): string => `${state}/quiet`;

/** `quiet`: nothing waits for the session. `free`: something may wait, but nothing holds its gate. */
export type Mark = 'quiet' | 'free';

const ENDINGS: Readonly<Record<Mark, string>> = { quiet: '', free: '.free' };

const isName = (session: string): boolean => /^[\w-]{1,100}$/.test(session);

/** When the two files changed last, epoch ms. */
export type Changed = { readonly database: number; readonly wal: number | undefined };

/** Undefined where the times say nothing yet. Ask this before the database itself. */
export function settledSince(database: string, now: number): Changed | undefined {
  const [main, wal] = [database, `${database}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs);
  return main !== undefined && Math.max(main, wal ?? 0) < now - SETTLED_MS ? { database: main, wal } : undefined;
}

/** Throws where the folder cannot be written. */
export function leaveMark(kind: Mark, state: string, session: string, database: string, { database: main, wal }: Changed): void {
  if (!isName(session) || database.includes('\n')) return;
  mkdirSync(quietFolder(state), { recursive: true, mode: 0o700 });
  const mark = `${quietFolder(state)}/${session}${ENDINGS[kind]}`;
  // No mark holds while its bounds are of two moments.
  rmSync(mark, { force: true });
  if (wal === undefined) rmSync(`${mark}.wal`, { force: true });
  else enclose(`${mark}.wal`, '', wal);
  enclose(mark, `${database}\n`, main);
}

/** Two files, since Node sets no nanoseconds: one is a little older than the time, and `.to` a little younger. */
function enclose(file: string, text: string, time: number): void {
  place(`${file}.to`, '', time + 1);
  place(file, text, time - 1);
}

/** At once with its time. */
function place(file: string, text: string, time: number): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  utimesSync(draft, time / 1_000, time / 1_000);
  renameSync(draft, file);
}

/** `over`: the session ends. Never throws. */
export function forgetMarks(state: string, session: string, { over }: { readonly over: boolean }): void {
  if (!isName(session)) return;
  // The mark first: the others say nothing without it.
  const marks = Object.values(ENDINGS).flatMap((ending) => ['', '.to', '.wal', '.wal.to'].map((part) => `${ending}${part}`));
  for (const ending of over ? [...marks, SERVER] : marks)
    try {
      rmSync(`${quietFolder(state)}/${session}${ending}`, { force: true });
    } catch {
      // Its times do not hold after what is to be said.
    }
}

/** This process answers the batch ends of the session. Never throws. */
export function noteServer(state: string, session: string): void {
  if (!isName(session)) return;
  try {
    mkdirSync(quietFolder(state), { recursive: true, mode: 0o700 });
    writeFileSync(`${quietFolder(state)}/${session}${SERVER}`, `${process.pid}\n`, { mode: 0o600 });
  } catch {
    // Then a command answers them too.
  }
}

const SERVER = '.server';

export type Ending = {
  readonly mark: Mark;
  /** Names the session in the hook's environment. */
  readonly variable: string;
  /** The hook also ends while a server answers for it. */
  readonly served: boolean;
};

/**
 * For a POSIX shell: ends it where the mark of this session holds, or its server lives. Any doubt lets it go on. Shells differ
 * where a file is missing, so each is looked for first.
 */
export function endsEarly(state: string, { mark, variable, served }: Ending, quote: (word: string) => string): string {
  const file = `s=${quote(`${quietFolder(state)}/`)}"$${variable}"`;
  const server = `[ -f "$s${SERVER}" ] && read -r p <"$s${SERVER}" && kill -0 "$p" 2>/dev/null && exit 0`;
  const marked =
    `same() { [ -f "$1" ] && [ -f "$2" ] && [ -f "$2.to" ] && [ ! "$1" -ot "$2" ] && [ ! "$1" -nt "$2.to" ]; }; ` +
    `m="$s${ENDINGS[mark]}"; [ -f "$m" ] && read -r d <"$m" && same "$d" "$m" && ` +
    `if [ -e "$m.wal" ]; then same "$d-wal" "$m.wal"; else [ ! -e "$d-wal" ]; fi && exit 0`;
  return [file, ...(served ? [server] : []), marked].join('; ');
}
