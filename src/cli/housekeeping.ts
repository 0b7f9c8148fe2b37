/**
 * Does the housekeeping of a process that serves a session: each minute, sweeps the database and keeps the project's followers
 * running.
 */
import { listKey } from '../sources/follow/key.ts';
import type { UserInbox } from '../user-inbox.ts';

const EVERY_MS = 60_000;

/**
 * Starts the process that checks what the project follows, if the project follows something and no such process runs. An earlier
 * process may have been killed, or its machine may have failed. `folder`: the working folder of the new process.
 */
export async function keepFollowing(inbox: UserInbox, folder: string): Promise<void> {
  if ((await inbox.store.setting(listKey(inbox.project))) === undefined) return;
  const { startLooker } = await import('./looker.ts');
  await startLooker(inbox, folder);
}

/**
 * Sweeps the database each minute, and keeps the project's followers running. `inbox` returns undefined while the inbox is not
 * open. Returns a function that ends the housekeeping. Calls `swept` after each sweep that succeeded.
 */
export function keepHouse(
  inbox: () => UserInbox | undefined,
  options: { readonly folder: string; readonly complain: (line: string) => void; readonly swept?: () => void },
): () => void {
  const { folder, complain, swept } = options;
  const once = async (): Promise<void> => {
    const opened = inbox();
    if (opened === undefined) return;
    await opened.sweep();
    swept?.();
    await keepFollowing(opened, folder);
  };
  const timer = setInterval(() => {
    once().catch((error: unknown) => complain(`housekeeping failed: ${error instanceof Error ? error.message : String(error)}`));
  }, EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
