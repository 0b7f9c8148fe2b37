/** Starts a worker, asks it one question at a time with a deadline, and ends the worker. */
import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { GONE, isGone } from '../../core/errors.ts';
import type { Answer, Limits, Question, WorkerData } from './protocol.ts';

export type Thread = {
  /**
   * Asks one question. Ask the next question only after the answer. After `lost` or `broken`, end the worker. The deadline counts
   * from the time at which the worker begins the question.
   */
  ask(question: Question, deadlineMs: number): Promise<Answer | Lost>;
  /** Ends the worker, and resolves when it has exited. Later questions are `lost`. May be called repeatedly. */
  end(): Promise<void>;
};

/** `reason`: why the worker was lost, for people. */
export type Lost = { readonly kind: 'lost'; readonly reason: 'late' | { readonly died: string } };

/** The possible places of the worker's file, relative to this module: among the sources, and in the built package. */
const PLACES = ['./worker.ts', './workers/template.js', '../workers/template.js'];

export async function startThread(limits: Limits, startMs: number): Promise<Thread | Lost> {
  const begun = new BigInt64Array(new SharedArrayBuffer(8));
  const file = PLACES.map((place) => new URL(place, import.meta.url)).find((url) => existsSync(url));
  if (file === undefined) return died(GONE);
  let worker: Worker;
  try {
    worker = new Worker(file, {
      name: 'earpiece-templates',
      workerData: { limits, begun: begun.buffer } satisfies WorkerData,
      // The worker gets no environment variables, and no flags of the host program that could break it.
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      // The thread's stack is smaller than the engine's own stack in WebAssembly memory, so that the thread's stack overflows
      // first.
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16, stackSizeMb: 1 },
    });
  } catch (error) {
    return died(messageOf(error));
  }

  /** Handles the next message, or the end of the worker. */
  let waiting: ((message: unknown) => void) | undefined;
  let last: string | undefined;
  const onMessage = (message: unknown): void => {
    const settle = waiting;
    waiting = undefined;
    settle?.(message);
  };
  worker.on('message', onMessage);
  worker.on('error', (error) => (last = messageOf(error)));
  const ended = new Promise<void>((resolve) => {
    worker.once('exit', (code) => {
      onMessage(died(last ?? `the worker thread ended with code ${code}`));
      resolve();
    });
  });
  const end = async (): Promise<void> => {
    await worker.terminate();
    await ended;
  };

  /**
   * Waits for the next message. Returns `late` when the time from `left` has run out and `grace` adds no time. The worker keeps
   * the process alive only during this wait.
   */
  const next = async (left: () => number, grace: () => Promise<number> = async () => 0): Promise<unknown> => {
    let timer: NodeJS.Timeout | undefined;
    worker.ref();
    try {
      return await new Promise<unknown>((resolve) => {
        waiting = resolve;
        const watch = async (): Promise<void> => {
          const ms = left();
          const more = ms > 0 ? ms : await grace();
          if (waiting !== resolve) return;
          // The wait lasts one more iteration of the event loop, because a message that arrived while this thread was busy must
          // not count as late.
          if (more <= 0) setImmediate(() => waiting === resolve && onMessage(LATE));
          else timer = setTimeout(() => void watch(), more);
        };
        void watch();
      });
    } finally {
      clearTimeout(timer);
      worker.unref();
    }
  };

  const startBy = performance.now() + startMs;
  const first = await next(() => startBy - performance.now());
  if (first !== 'ready') {
    await end();
    return first === LATE ? died(`the worker thread did not start within ${startMs.toLocaleString('en')} ms`) : (first as Lost);
  }

  return {
    end,
    async ask(question, deadlineMs) {
      Atomics.store(begun, 0, 0n);
      const asked = process.hrtime.bigint();
      const usedBefore = usedMs(worker);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker, not a window
      worker.postMessage(question);
      return (await next(
        () => {
          const from = Atomics.load(begun, 0);
          // On a busy machine, the worker may begin the question late.
          return from === 0n ? Math.min(deadlineMs, startMs - msSince(asked)) : deadlineMs - msSince(from);
        },
        // On a busy machine, the worker may get little processor time, so only its own processor time counts.
        async () => {
          if (msSince(asked) >= BUSY * deadlineMs) return 0;
          const [before, now] = await Promise.all([usedBefore, usedMs(worker)]);
          const unused = before === undefined || now === undefined ? 0 : deadlineMs - (now - before);
          return unused > NEARLY * deadlineMs ? unused : 0;
        },
      )) as Answer | Lost;
    },
  };
}

/**
 * The maximum time of a question on a busy machine, as a multiple of its deadline. After this time, a question that never ends is
 * stopped.
 */
const BUSY = 40;
/** The minimum share of the deadline that must remain for another check of the processor time. */
const NEARLY = 0.1;

/** Returns the worker's processor time. Undefined if the time is unknown, as before Node 24.6 or after the worker has ended. */
async function usedMs(worker: Worker): Promise<number | undefined> {
  try {
    const { user, system } = await (worker as Partial<Pick<Worker, 'cpuUsage'>>).cpuUsage!.call(worker);
    return (user + system) / 1_000;
  } catch {
    return undefined;
  }
}

const LATE: Lost = { kind: 'lost', reason: 'late' };
const died = (why: string): Lost => ({ kind: 'lost', reason: { died: why } });
const msSince = (ns: bigint): number => Number(process.hrtime.bigint() - ns) / 1e6;
const messageOf = (error: unknown): string => (isGone(error) ? GONE : error instanceof Error ? error.message : String(error));
