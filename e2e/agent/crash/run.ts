/**
 * Starts an agent again after each kill -9, until its talk has ended. A *life* is one process of the agent. During the talk,
 * another process queues notifications.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultPoint } from '../../../src/core/faults.ts';
import type { LogKey } from '../../../src/core/address.ts';
import { openSqliteStore } from '../../../src/stores/index.ts';
import { startModel, type Model, type Request } from '../../model/server.ts';
import { COMPILED } from '../../compiled.ts';
import type { Api } from '../apis.ts';
import { elsewhere } from '../elsewhere.ts';
import { problemsOf } from './checker.ts';
import { ADDRESS, CALLS, resultsIn, storyStep } from './story.ts';

/** How a life ends: at the n-th pass of a fault point, or `afterMs` after its n-th request has reached the model. */
export type Kill =
  | { readonly kind: 'point'; readonly point: FaultPoint; readonly times: number }
  | { readonly kind: 'request'; readonly times: number; readonly afterMs: number };

export type Ran = {
  readonly problems: readonly string[];
  /** The number of lives that a kill ended. The talk may have ended before the kill. */
  readonly killed: number;
  readonly requests: number;
  readonly queued: number;
};

const MAX_QUEUED = 60;

export async function runKilled(api: Api, kills: readonly Kill[]): Promise<Ran> {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-crash-'));
  const db = join(folder, 'e.db');
  const queued: string[] = [];
  const stop = new AbortController();
  // The number of requests of the running life, and a hook that runs before each answer.
  let asked = 0;
  let onRequest = async (_nth: number): Promise<void> => {};
  await using model: Model = await startModel((request: Request) => {
    const [nth, came] = [++asked, model.requests.length];
    return {
      ...storyStep(request),
      before: async () => {
        // Neither the agent nor the producer may run ahead of the other, even if one process is slow.
        while (queued.length < Math.min(2 * came, MAX_QUEUED) && !stop.signal.aborted) await sleep(2);
        await onRequest(nth);
      },
    };
  });
  await using other = await elsewhere(db);
  const producing = (async () => {
    const levels = ['info', 'info', 'warning', 'error', 'info', 'warning', 'critical'] as const;
    for (let n = 0; n < MAX_QUEUED && !stop.signal.aborted; n++) {
      const id = `note-${n}`;
      await other.queue(ADDRESS, { id, kind: 'ci.told', level: levels[n % levels.length] ?? 'info', message: `${id}.` });
      queued.push(id);
      // Waits for the next request after each fourth notification, to spread the notifications over the talk.
      for (const so = model.requests.length; so === model.requests.length && n % 4 === 3 && !stop.signal.aborted;) await sleep(2);
    }
  })();

  /** Runs one life. Returns true if its process ended by itself. */
  const live = async (kill: Kill | undefined, last?: string): Promise<boolean> => {
    asked = 0;
    const fault = kill?.kind === 'point' ? { EARPIECE_FAULT: `${kill.point}:${kill.times}` } : {};
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, 'worker.ts'), db, model.url, api, ...(last === undefined ? [] : [last])],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { PATH: process.env['PATH'], ...COMPILED, ...fault },
      },
    );
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
    const closed = once(child, 'close') as Promise<[number | null, string | null]>;
    onRequest = async (nth) => {
      if (kill?.kind !== 'request') return;
      if (nth === kill.times) void sleep(kill.afterMs).then(() => child.kill('SIGKILL'));
      // The talk must not end before the kill, even if the kill is late.
      if (nth > kill.times) await closed;
    };
    const [code, signal] = await closed;
    onRequest = async () => {};
    if (signal === 'SIGKILL') return false;
    if (code === 0 && output.includes('done')) return true;
    throw new Error(`the agent ended with ${code ?? signal}: ${output}`);
  };

  try {
    let killed = 0;
    for (const kill of kills) if (!(await live(kill))) killed++;
    await live(undefined);
    stop.abort();
    await producing;
    // This turn carries all notifications that are still open.
    await live(undefined, 'And the rest?');
    const store = await openSqliteStore({ path: db });
    const records = (await store.read({ log: 'shop/coder' as LogKey, limit: 100_000 })).map(({ body }) => body);
    const unsound = await store.verify();
    await store.close();
    const results = resultsIn(model.requests.at(-1) as Request);
    return {
      problems: [
        ...problemsOf({ records, requests: model.requests, queued }),
        ...unsound.map((what) => `the database: ${JSON.stringify(what)}`),
        ...(results === CALLS ? [] : [`${results} of ${CALLS} calls have their result`]),
      ],
      killed,
      requests: model.requests.length,
      queued: queued.length,
    };
  } finally {
    stop.abort();
    await producing.catch(() => undefined);
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
}

/** Chooses a kill at a random time in the loop: while the model answers, tools run, or results are written. */
export const randomKill = (chance: () => number, times = 1 + Math.floor(chance() * 2)): Kill => ({
  kind: 'request',
  times,
  afterMs: chance() * 25,
});

/** Returns a generator of random numbers from 0 to below 1. The same seed gives the same numbers. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
