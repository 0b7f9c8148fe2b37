/** The thread that owns a database: an entry of its own in the built package. `store.ts` starts it, asks it and ends it. */
import { parentPort, workerData } from 'node:worker_threads';
import { armFaultsFromEnv } from '../fault-env.ts';
import { openSqliteStore, type SqliteStore } from '../sqlite/store.ts';
import { type Answer, type Ask, failureOf, type Setup } from './protocol.ts';

const { path, busyMs, now, quiet, fault } = workerData as Setup;
const answered = new Int32Array(quiet);
armFaultsFromEnv({ EARPIECE_FAULT: fault });

let time = now;
const running = new Map<number, AbortController>();

const say = (answer: Answer): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
  parentPort?.postMessage(answer);
};

try {
  const store = await openSqliteStore({
    path,
    together: true,
    report: (line) => say({ kind: 'report', line }),
    ...(busyMs === undefined ? {} : { busyMs }),
    ...(now === undefined ? {} : { clock: { now: () => time as number } }),
  });
  parentPort?.on('message', (ask: Ask) => hear(store, ask));
  say({ kind: 'ready', name: store.name, path: store.path, lastAt: store.lastAt });
} catch (error) {
  say({ kind: 'refused', error: failureOf(error) });
  parentPort?.close();
}

function hear(store: SqliteStore, ask: Ask): void {
  if (ask.now !== undefined) time = ask.now;
  switch (ask.kind) {
    case 'call':
      void perform(store, ask);
      return;
    case 'cancel':
      running.get(ask.id)?.abort();
      return;
    case 'quiet':
      Atomics.store(answered, 1, store.quiet?.(ask.log, ask.conversation) ? 1 : 0);
      Atomics.store(answered, 0, ask.n);
      Atomics.notify(answered, 0);
      return;
    case 'close':
      void store.close().finally(() => parentPort?.close());
      return;
    default:
      ask satisfies never;
  }
}

async function perform(store: SqliteStore, { id, method, args, options, progress }: Ask & { kind: 'call' }): Promise<void> {
  const cancel = new AbortController();
  running.set(id, cancel);
  const onProgress = (done: number, of: number): void => say({ kind: 'progress', id, done, of });
  try {
    const call = store[method] as (...args: unknown[]) => Promise<unknown>;
    const all = { ...options, signal: cancel.signal, ...(progress ? { onProgress } : {}) };
    const result = await call.call(store, ...args, all);
    say({ kind: 'done', id, result, lastAt: store.lastAt });
  } catch (error) {
    say({ kind: 'failed', id, error: failureOf(error) });
  } finally {
    running.delete(id);
  }
}
