import type { Store } from '../core/ports.ts';

const QUIET_MS = 1_000;
const EVERY_MS = 200;

/** Checks a store. On a terminal, a check of more than a second shows its progress, and Ctrl+C ends the check. */
export async function verified(store: Store): Promise<readonly string[]> {
  const { stderr } = process;
  if (!stderr.isTTY) return store.verify();
  const start = performance.now();
  let shown = 0;
  const problems = await store.verify({
    onProgress: (done, of) => {
      const now = performance.now();
      if (now - start < QUIET_MS || now - shown < EVERY_MS) return;
      shown = now;
      stderr.write(`\rchecking: ${done.toLocaleString('en')} of ${of.toLocaleString('en')} records`);
    },
  });
  if (shown > 0) stderr.write('\r\u001B[K');
  return problems;
}

/** Says what to do with a store that has problems. */
export const wayOutOf = ({ name }: Store): string =>
  name.startsWith('postgres ') || name.startsWith('nats ')
    ? 'restore a backup with the tools of the database server'
    : 'restore a backup at this path, or move the file away and lose its open notifications';
