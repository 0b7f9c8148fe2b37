/** Starts and runs the process that checks what a project follows. See `sources/follow/look-after.ts`. */
import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HANDLE_OF_VARIABLE, HANDLE_VARIABLE, isAlive } from '../inbox/index.ts';
import { withoutSecrets } from '../handles/environment.ts';
import { openInbox, type UserInbox } from '../user-inbox.ts';
import { followerOf, letGo, listed, lookAfter, looker, RENEW_MS, renewLease, takeLease } from '../sources/follow/index.ts';
import { untilStopped, type GlobalOptions } from './context.ts';

/**
 * Starts the process that checks what the project follows, and returns true. Returns false if the process runs already, or if the
 * project follows nothing but commands and no `unfollow` was interrupted. The process outlives its parent.
 */
export async function startLooker({ store, project, config }: UserInbox, folder: string): Promise<boolean> {
  if ((await listed(store, project)).every(({ what, ending }) => what.kind === 'command' && !ending)) return false;
  if ((await looker(store, project, (other) => isAlive(other))) !== undefined) return false;
  startFollow(['--db', config.db, '--look', project], folder);
  return true;
}

/** Starts `earpiece follow` with these options, in a process that outlives its parent. */
export function startFollow(options: readonly string[], folder: string): void {
  const entry = process.argv[1] ?? fileURLToPath(new URL('./main.ts', import.meta.url));
  const child = spawn(process.execPath, [entry, 'follow', ...options], {
    cwd: folder,
    detached: true,
    stdio: 'ignore',
    env: environment(),
  });
  child.on('error', () => {}).unref();
}

/** Returns the environment of the process, which acts for the project and not for the agent whose shell has started it. */
function environment(): NodeJS.ProcessEnv {
  const kept = { ...withoutSecrets(process.env) };
  for (const name of [HANDLE_VARIABLE, HANDLE_OF_VARIABLE, 'EARPIECE_ADDRESS']) delete kept[name];
  return kept;
}

/**
 * Checks what the project follows. Resolves when the project follows nothing but commands, or has had no active session for a
 * minute and no follower with `--keep`. Also resolves at a signal, and when another process does this work.
 */
export async function runLooker(project: string, { db }: GlobalOptions): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([untilStopped(), over.signal]);
  // An agent may have started this process, but the process acts for the project: see `environment`.
  await using ear = await openInbox({ inbox: { speaker: undefined }, ...(db === undefined ? {} : { flags: { db } }) });
  const { store, owner } = ear;
  if (!(await takeLease(store, project, owner, (other) => isAlive(other)))) return;
  const renewing = setInterval(() => {
    // If the store fails, the checks continue, and this process renews its lease at the next interval.
    renewLease(store, project, owner)
      .then((isMine) => isMine || over.abort())
      .catch(() => {});
  }, RENEW_MS);
  try {
    await ear.loadAhead();
    await lookAfter({
      store,
      project,
      emitter: ear.emitter,
      followerOf: (followed) => followerOf(followed, ear),
      isAnyoneThere: async () => (await ear.active({ project })).length > 0,
      now: () => Date.now(),
      sleep: (ms, by) => pause(ms, undefined, { signal: by }).catch(() => {}),
      signal,
    });
  } finally {
    clearInterval(renewing);
    await letGo(store, project, owner);
  }
}
