/**
 * Marks sessions without open notifications: files named by the session, with the time of the database's last change. The shell
 * line of a hook compares the times and ends without a new process. Each change of the database is newer than the mark, so an
 * outdated mark has no effect. Imports no other module of Earpiece, because each hook call loads it.
 */

/** Asked for, not imported: an import brings streams and promises with it, for which each hook call would pay. */
const { mkdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } = process.getBuiltinModule('node:fs');

/** Some file systems and shells know whole seconds only: a younger change could be followed by another of the same time. */
const SETTLED_MS = 2_000;

/** Below the state folder. */
export const quietFolder = (state: string): string => `${state}/quiet`;

const isName = (session: string): boolean => /^[\w-]{1,100}$/.test(session);

/** When the database changed last, epoch ms; undefined where that says nothing yet. Ask this before the database itself. */
export function settledSince(database: string, now: number): number | undefined {
  const changed = Math.max(
    ...[database, `${database}-wal`].map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0),
  );
  return changed > 0 && changed < now - SETTLED_MS ? changed : undefined;
}

/** Throws where the folder cannot be written. */
export function markQuiet(state: string, session: string, { database, since }: { database: string; since: number }): void {
  if (!isName(session) || database.includes('\n')) return;
  const mark = `${quietFolder(state)}/${session}`;
  const draft = `${mark}.${process.pid}`;
  mkdirSync(quietFolder(state), { recursive: true, mode: 0o700 });
  writeFileSync(draft, `${database}\n`, { mode: 0o600 });
  // Rounded up, so that the change itself is not newer.
  const time = Math.floor(since + 1) / 1_000;
  utimesSync(draft, time, time);
  renameSync(draft, mark);
}

/** Never throws. */
export function forgetQuiet(state: string, session: string): void {
  if (!isName(session)) return;
  try {
    rmSync(`${quietFolder(state)}/${session}`, { force: true });
  } catch {
    // Its time is older than what is to be said.
  }
}

/**
 * For a POSIX shell: ends it where the mark of this session holds. `variable` names the session in the hook's environment.
 * Any doubt lets it go on.
 */
export const endsWhereQuiet = (state: string, variable: string, quote: (word: string) => string): string =>
  `m=${quote(`${quietFolder(state)}/`)}"$${variable}"; [ -f "$m" ] && read -r d <"$m" && [ -f "$d" ] && [ ! "$d" -nt "$m" ] && [ ! "$d-wal" -nt "$m" ] && exit 0`;
