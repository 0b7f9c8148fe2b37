/** Runs the thread that owns a database, a separate entry of the built package. `store.ts` starts, calls and ends the thread. */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { defined } from '../../core/defined.ts';
import { armFaultsFromEnv } from '../fault-env.ts';
import type { Draft } from '../../core/records.ts';
import { openSqliteStore, type OwnedStore } from '../sqlite/store.ts';
import { outbox } from './outbox.ts';
import { type Answer, type Ask, failureOf, type Setup } from './protocol.ts';

/**
 * The maximum number of messages that are taken before the first is answered, so that a busy caller does not delay other callers
 * too long.
 */
const MOST_AT_ONCE = 64;

const { path, busyMs, now, quiet, fault } = workerData as Setup;
const answered = new Int32Array(quiet);
armFaultsFromEnv({ EARPIECE_FAULT: fault });

let time = now;
const running = new Map<number, AbortController>();

const answers = outbox<Answer>(
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
  (all) => parentPort?.postMessage(all),
  (answer, error) => {
    if ('id' in answer) say({ kind: 'failed', id: answer.id, error: failureOf(error) });
  },
);
const say = (answer: Answer): void => answers.add(answer);

try {
  const store = await openSqliteStore({
    path,
    together: true,
    report: (line) => say({ kind: 'report', line }),
    ...defined({ busyMs }),
    ...(now === undefined ? {} : { clock: { now: () => time as number } }),
  });
  parentPort?.on('message', (asks: readonly Ask[]) => {
    for (const ask of asks) handle(store, ask);
    // Messages that already wait share the transaction.
    for (const ask of waiting()) handle(store, ask);
  });
  say({ kind: 'ready', name: store.name, path: store.path, lastAt: store.lastAt });
} catch (error) {
  say({ kind: 'refused', error: failureOf(error) });
  answers.flush();
  parentPort?.close();
}

function* waiting(): Iterable<Ask> {
  for (let taken = 0; taken < MOST_AT_ONCE; taken++) {
    const next = parentPort === null ? undefined : receiveMessageOnPort(parentPort);
    if (next === undefined) return;
    yield* next.message as readonly Ask[];
  }
}

function handle(store: OwnedStore, ask: Ask): void {
  if (ask.now !== undefined) time = ask.now;
  switch (ask.kind) {
    case 'call':
      void perform(store, ask);
      return;
    case 'append':
      void place(store, ask);
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
      void store.close().finally(() => {
        answers.flush();
        parentPort?.close();
      });
      return;
    default:
      ask satisfies never;
  }
}

async function perform(store: OwnedStore, { id, method, args, options, progress }: Ask & { kind: 'call' }): Promise<void> {
  const cancel = new AbortController();
  running.set(id, cancel);
  const onProgress = (done: number, of: number): void => {
    say({ kind: 'progress', id, done, of });
    // A check runs in one iteration of the event loop, so the outbox would send its progress only at the end.
    answers.flush();
  };
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

async function place(store: OwnedStore, { id, log, texts, options, cancel }: Ask & { kind: 'append' }): Promise<void> {
  const gone = cancel ? new AbortController() : undefined;
  if (gone !== undefined) running.set(id, gone);
  try {
    const drafts = texts.map((text) => ({ text, body: JSON.parse(text) as Draft }));
    const placing = await store.place(log, drafts, gone === undefined ? options : { ...options, signal: gone.signal });
    const { lastAt } = store;
    if (placing.kind !== 'placed') say({ kind: 'done', id, result: placing, lastAt });
    else {
      const { seq, at, clock, items, isFresh } = placing;
      say({ kind: 'placed', id, seq, at, clock, items: isFresh ? undefined : JSON.stringify(items), lastAt });
    }
  } catch (error) {
    say({ kind: 'failed', id, error: failureOf(error) });
  } finally {
    if (gone !== undefined) running.delete(id);
  }
}
