/**
 * Runs a store whose database is open in a separate thread. The calling thread never opens the main file, so a hanging disk or a
 * held lock stops only callers that wait for the store. The thread commits the waiting writes of many callers in one transaction.
 */
import { existsSync } from 'node:fs';
import { getCompileCacheDir } from 'node:module';
import { dirname, resolve as absolute } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ConversationId, LogKey } from '../../core/address.ts';
import type { Json } from '../../core/json.ts';
import type {
  AgentOverview,
  Appended,
  Clock,
  ItemQuery,
  LogOverview,
  Presence,
  PresenceQuery,
  PresenceUpdate,
  Progress,
  ReadQuery,
  Swap,
  Wait,
  Withheld,
  Erased,
} from '../../core/ports.ts';
import type { Item } from '../../core/items.ts';
import type { Draft, Owner, Stored } from '../../core/records.ts';
import { freshItems, storedAs, written } from '../placing.ts';
import type { Compacted } from '../sqlite/compact.ts';
import type { SqliteStore } from '../sqlite/store.ts';
import { Commits } from './commits.ts';
import { outbox } from './outbox.ts';
import { type Answer, type Ask, errorOf, type Method, type PlacedAnswer, type Setup } from './protocol.ts';
import { closed, fileless, lost, stopped } from './trouble.ts';

export type ThreadOptions = {
  readonly path: string;
  readonly clock?: Clock;
  /** How long a call waits, in ms, if it has no `withinMs`. Default 5,000. */
  readonly busyMs?: number;
  /** Called with a message for people. Default: a process warning. */
  readonly report?: (line: string) => void;
  /** Like `EARPIECE_FAULT`, for tests. Default: the environment's value. */
  readonly fault?: string;
};

/** The possible places of the worker's file: beside the sources, or in the package, in a folder next to or above this chunk. */
const PLACES = ['./worker.ts', './workers/store.js', '../workers/store.js'];
/** Rounds a time for a timer, which takes whole milliseconds up to a maximum. */
const wholeMs = (ms: number): number => Math.min(Math.ceil(Math.max(ms, 0)), 2 ** 31 - 1);
/** The additional time for an answer after the thread's own time limit. A thread that needs more time counts as blocked. */
const SPARE_MS = 50;
/** The longest wait for the answer to `quiet`. An idle thread answers in about 0.03 ms. */
const QUIET_WITHIN_MS = 3;
/**
 * The calls that fail if the thread does not answer in time. A write waits for the thread's result, because even a thread that
 * answers late may have written.
 */
const READS: ReadonlySet<Method> = new Set([
  'read',
  'head',
  'items',
  'countOpen',
  'overview',
  'agents',
  'presence',
  'binding',
  'setting',
  'withheld',
  'secret',
]);

/** Opens a database in a thread. Rejects like `openSqliteStore`. */
export async function openThreadStore(options: ThreadOptions): Promise<SqliteStore> {
  const store = new ThreadStore(options);
  await store.opened();
  return store;
}

type Pending = {
  readonly done: (result: unknown) => void;
  readonly failed: (error: unknown) => void;
  readonly onProgress: Progress['onProgress'];
};

class ThreadStore implements SqliteStore {
  readonly path: string;
  readonly #options: ThreadOptions;
  readonly #busyMs: number;
  readonly #clock: Clock;
  readonly #answered = new Int32Array(new SharedArrayBuffer(8));
  readonly #pending = new Map<number, Pending>();
  /** The conversations that were quiet after the last commit of any process. */
  readonly #quiet = new Set<string>();
  readonly #commits: Commits;
  readonly #asks = outbox<Ask>(
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
    (all) => this.#worker?.postMessage(all),
    (ask, error) => {
      // A value that cannot be sent in a message fails only its own caller.
      if ('id' in ask) this.#pending.get(ask.id)?.failed(error);
    },
  );
  #worker: Worker | undefined;
  #ready: Promise<void> | undefined;
  #isReady = false;
  #ended: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #asked = 0;
  #next = 0;
  #lastAt = 0;

  constructor(options: ThreadOptions) {
    this.path = absolute(options.path);
    this.#options = options;
    this.#commits = new Commits(this.path);
    this.#busyMs = options.busyMs ?? 5_000;
    this.#clock = options.clock ?? { now: () => Date.now() };
  }

  get lastAt(): number {
    return this.#lastAt;
  }

  get name(): string {
    return `sqlite ${this.path}`;
  }

  /** Resolves when the thread has opened the file, or rejects with the thread's error. Restarts a thread that has ended. */
  opened(): Promise<void> {
    this.#ready ??= this.#start();
    return this.#ready;
  }

  now(): number {
    return this.#clock.now();
  }

  ordered(): number {
    return Math.max(this.#clock.now(), this.#lastAt);
  }

  quiet(log: LogKey, conversation: ConversationId): boolean {
    if (!this.#isReady || this.#closing !== undefined) return false;
    const key = `${log}#${conversation}`;
    // Commits are checked before the thread answers, so that the next call notices a commit that happens during the answer.
    if (this.#commits.news()) this.#quiet.clear();
    if (this.#quiet.has(key)) return true;
    const quiet = this.#askQuiet(log, conversation);
    if (quiet) this.#quiet.add(key);
    return quiet;
  }

  #askQuiet(log: LogKey, conversation: ConversationId): boolean {
    const n = (this.#asked = (this.#asked + 1) | 0);
    this.#say({ kind: 'quiet', n, log, conversation });
    this.#asks.flush();
    const until = performance.now() + QUIET_WITHIN_MS;
    for (;;) {
      const last = Atomics.load(this.#answered, 0);
      if (last === n) return Atomics.load(this.#answered, 1) === 1;
      const left = until - performance.now();
      // After `false`, the caller makes the full checks, which wait for the answer without blocking this thread.
      if (left <= 0 || Atomics.wait(this.#answered, 0, last, left) === 'timed-out') return false;
    }
  }

  async append(log: LogKey, drafts: readonly Draft[], given?: Wait & { readonly swaps?: readonly Swap[] }): Promise<Appended> {
    const { signal, ...options } = given ?? {};
    const texts = written(drafts).map(({ text }) => text);
    const answer = await this.#answerTo<Exclude<Appended, { kind: 'appended' }> | PlacedAnswer>(
      (id) => ({ kind: 'append', id, log, texts, options, ...(signal === undefined ? {} : { cancel: true as const }) }),
      { signal },
    );
    if (answer.kind !== 'placed') return answer;
    const items = answer.items === undefined ? freshItems(answer, drafts) : (JSON.parse(answer.items) as Item[]);
    return { kind: 'appended', records: storedAs(answer, log, drafts), items };
  }
  read(query: ReadQuery, options?: Wait): Promise<readonly Stored[]> {
    return this.#call('read', [query], options);
  }
  head(options?: Wait): Promise<number> {
    return this.#call('head', [], options);
  }
  items(log: LogKey, query: ItemQuery, options?: Wait): Promise<readonly Item[]> {
    return this.#call('items', [log, query], options);
  }
  countOpen(log: LogKey, options?: Wait): Promise<number> {
    return this.#call('countOpen', [log], options);
  }
  overview(project?: string, options?: Wait): Promise<readonly LogOverview[]> {
    return this.#call('overview', [project], options);
  }
  agents(query: { project?: string; after?: LogKey; limit?: number }, options?: Wait): Promise<readonly AgentOverview[]> {
    return this.#call('agents', [query], options);
  }
  touch(update: PresenceUpdate, options?: Wait): Promise<Presence> {
    return this.#call('touch', [update], options);
  }
  presence(query: PresenceQuery, options?: Wait): Promise<readonly Presence[]> {
    return this.#call('presence', [query], options);
  }
  bind(host: Owner, to: { log: LogKey; conversation: ConversationId }, options?: Wait): Promise<void> {
    return this.#call('bind', [host, to], options);
  }
  binding(host: Owner, options?: Wait): Promise<{ log: LogKey; conversation: ConversationId; at: number } | undefined> {
    return this.#call('binding', [host], options);
  }
  withhold(held: Withheld, options?: Wait): Promise<void> {
    return this.#call('withhold', [held], options);
  }
  withheld(log: LogKey, conversation: ConversationId, options?: Wait & { take?: boolean }): Promise<readonly Withheld[]> {
    return this.#call('withheld', [log, conversation], options);
  }
  prune(before: number, options?: Wait): Promise<{ readonly records: number; readonly items: number }> {
    return this.#call('prune', [before], options);
  }
  forget(seqs: readonly number[], options?: Wait & { readonly swaps?: readonly Swap[] }): Promise<boolean> {
    return this.#call('forget', [seqs], options);
  }
  erase(log: LogKey, before: number, options?: Wait): Promise<Erased> {
    return this.#call('erase', [log, before], options);
  }
  setting(key: string, options?: Wait): Promise<Json | undefined> {
    return this.#call('setting', [key], options);
  }
  setSetting(key: string, value: Json | undefined, options?: Wait): Promise<void> {
    return this.#call('setSetting', [key, value], options);
  }
  swapSetting(key: string, from: Json | undefined, to: Json | undefined, options?: Wait): Promise<boolean> {
    return this.#call('swapSetting', [key, from, to], options);
  }
  secret(options?: Wait): Promise<string> {
    return this.#call('secret', [], options);
  }
  verify(options?: Wait & Progress): Promise<readonly string[]> {
    return this.#call('verify', [], options);
  }
  backup(to: string): Promise<void> {
    return this.#call('backup', [absolute(to)], undefined);
  }
  compact(options?: Wait): Promise<Compacted> {
    return this.#call('compact', [], options);
  }

  async changed(after: number, options: Wait = {}): Promise<number> {
    if (this.#closing !== undefined) throw closed(this.path);
    const { withinMs, signal } = options;
    // The wait ends without an error after `withinMs`, even if the thread does not answer.
    const over = AbortSignal.any([
      ...(signal ? [signal] : []),
      ...(withinMs === undefined ? [] : [AbortSignal.timeout(wholeMs(withinMs))]),
    ]);
    if (over.aborted) return after;
    try {
      return await this.#call<number>('changed', [after], { ...options, signal: over });
    } catch (error) {
      if (over.aborted || this.#closing !== undefined) return after;
      throw error;
    }
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.#ready?.catch(() => {});
      this.#commits.close();
      if (this.#worker === undefined) return;
      this.#worker.ref();
      this.#say({ kind: 'close' });
      await this.#ended;
    })();
    return this.#closing;
  }

  #call<T>(method: Method, args: readonly unknown[], given: (Wait & Progress) | undefined): Promise<T> {
    const { signal, onProgress, ...options } = given ?? {};
    // `withheld` with `take` removes the results that it returns, so it is a write.
    const isRead = READS.has(method) && !('take' in options && options.take);
    const waits = isRead ? (options.withinMs ?? this.#busyMs) : undefined;
    const progress = onProgress === undefined ? {} : { progress: true as const };
    return this.#answerTo<T>((id) => ({ kind: 'call', id, method, args, options, ...progress }), { signal, waits, onProgress });
  }

  /** Waits for the thread's answer. `waits`: the call fails this many ms plus `SPARE_MS` after its start. */
  async #answerTo<T>(
    ask: (id: number) => Ask,
    { signal, waits, onProgress }: { readonly signal: AbortSignal | undefined; readonly waits?: number | undefined } & Progress,
  ): Promise<T> {
    if (this.#closing !== undefined) throw closed(this.path);
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const id = this.#next++;
    const cancel = (): void => {
      if (this.#isReady) this.#say({ kind: 'cancel', id });
    };
    const abort = (): void => {
      cancel();
      reject(signal?.reason);
    };
    const timer =
      waits === undefined
        ? undefined
        : setTimeout(() => {
            cancel();
            reject(stopped(this.path, waits));
          }, waits + SPARE_MS);
    signal?.addEventListener('abort', abort, { once: true });
    if (this.#pending.size === 0) this.#worker?.ref();
    this.#pending.set(id, { done: resolve as (result: unknown) => void, failed: reject, onProgress });
    try {
      if (this.#isReady) this.#say(ask(id));
      else this.opened().then(() => this.#pending.has(id) && this.#say(ask(id)), reject);
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
      this.#pending.delete(id);
      if (this.#pending.size === 0 && this.#closing === undefined) this.#worker?.unref();
    }
  }

  #say(ask: Ask): void {
    this.#asks.add(this.#options.clock === undefined ? ask : { ...ask, now: this.#clock.now() });
  }

  async #start(): Promise<void> {
    const file = PLACES.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url));
    if (file === undefined) throw fileless(this.path);
    const { clock, busyMs, fault = process.env['EARPIECE_FAULT'] } = this.#options;
    const worker = new Worker(file, {
      name: 'earpiece-store',
      workerData: { path: this.path, busyMs, now: clock?.now(), quiet: this.#answered.buffer, fault } satisfies Setup,
      env: compiledIn(getCompileCacheDir()),
      execArgv: [],
      trackUnmanagedFds: false, // See `raw-file.ts`.
    });
    this.#worker = worker;
    const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
    let why: string | undefined;
    worker.on('message', (answers: readonly Answer[]) => {
      for (const answer of answers)
        if (answer.kind === 'ready') {
          this.#isReady = true;
          this.#lastAt = Math.max(this.#lastAt, answer.lastAt);
          resolve();
        } else if (answer.kind === 'refused') reject(errorOf(answer.error));
        else this.#handle(answer);
    });
    worker.on('error', (error) => (why = error instanceof Error ? error.message : String(error)));
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    this.#ended = ended;
    worker.once('exit', (code) => {
      this.#worker = undefined;
      this.#isReady = false;
      this.#ready = undefined;
      const error = this.#closing === undefined ? lost(this.path, why ?? `exit code ${code}`) : closed(this.path);
      reject(error);
      for (const { failed } of this.#pending.values()) failed(error);
      end();
    });
    await ready;
    if (this.#pending.size === 0) worker.unref();
  }

  #handle(answer: Exclude<Answer, { kind: 'ready' | 'refused' }>): void {
    switch (answer.kind) {
      case 'done':
        this.#lastAt = Math.max(this.#lastAt, answer.lastAt);
        this.#pending.get(answer.id)?.done(answer.result);
        return;
      case 'placed':
        this.#lastAt = Math.max(this.#lastAt, answer.lastAt);
        this.#pending.get(answer.id)?.done(answer);
        return;
      case 'failed':
        this.#pending.get(answer.id)?.failed(errorOf(answer.error));
        return;
      case 'progress':
        this.#pending.get(answer.id)?.onProgress?.(answer.done, answer.of);
        return;
      case 'report':
        if (this.#options.report === undefined) process.emitWarning(answer.line, 'EarpieceWarning');
        else this.#options.report(answer.line);
        return;
      default:
        answer satisfies never;
    }
  }
}

/** Returns the thread's environment with the folder for its compiled code. Node itself adds the subfolder of its version. */
const compiledIn = (folder: string | undefined): NodeJS.ProcessEnv =>
  folder === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(folder) };
