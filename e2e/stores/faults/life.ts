/** Runs one process of a worker, from its start to its death. Its output is the journal. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { programOf } from '../../built.ts';
import type { Ordered, Orders, Told } from './roles.ts';
import type { Death } from './schedule.ts';

/** A worker opens its store within this time, also on a busy machine. */
const READY_MS = 20_000;
/** A worker that does not reach the point of its death in this time is killed. */
const OVERDUE_MS = 4_000;
/** If a worker writes nothing for this time, its death does not wait for more lines. */
const SILENT_MS = 1_500;

type End = { readonly code: number | null; readonly signal: string | null; readonly stderr: string };

export class Life {
  readonly name: string;
  readonly told: Told[] = [];
  /** Whether the worker was killed before its planned death. */
  overdue = false;
  readonly #child: ChildProcess;
  readonly #ended: Promise<End>;
  /** Resolves at the process's next line of output. */
  #heard = Promise.withResolvers<void>();

  constructor(orders: Orders, env: NodeJS.ProcessEnv, death?: Death) {
    this.name = orders.name;
    const fault = death?.kind === 'point' ? { EARPIECE_FAULT: `${death.point}:${death.times}` } : {};
    this.#child = spawn(process.execPath, [programOf('faults-worker'), JSON.stringify(orders)], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...env, ...fault },
    });
    let stderr = '';
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    // The process may have ended before it reads an order.
    this.#child.stdin?.on('error', () => {});
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      this.told.push(JSON.parse(line) as Told);
      this.#heard.resolve();
      this.#heard = Promise.withResolvers();
    });
    this.#ended = (once(this.#child, 'close') as Promise<[number | null, string | null]>).then(([code, signal]) => {
      this.#heard.resolve();
      return { code, signal, stderr };
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Whether the process still exists. A suspended process still exists. */
  get lives(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  end(): Promise<End> {
    return this.#ended;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    if (this.lives) this.#child.kill(signal);
  }

  order(order: Ordered): void {
    this.#child.stdin?.write(`${JSON.stringify(order)}\n`);
  }

  /**
   * Resolves with true when the process has opened the store, and with false if it has exited or does not open the store in time.
   */
  ready(): Promise<boolean> {
    return this.hears(() => this.told.length > 0, READY_MS);
  }

  /**
   * Waits until the process dies, its death is due or overdue, or `over` is aborted. Then kills the process and resolves with its
   * end.
   */
  async untilDeath(death: Death, over: AbortSignal): Promise<End> {
    const timer = new AbortController();
    await Promise.race([this.ready(), this.#ended, aborted(over, timer.signal)].map((end) => end.catch(() => {})));
    const ends: Promise<unknown>[] = [this.#ended, aborted(over, timer.signal)];
    if (death.kind === 'point') ends.push(sleep(OVERDUE_MS, undefined, { signal: timer.signal }));
    else ends.push(this.#tells(death.lines, timer.signal).then(() => sleep(death.ms, undefined, { signal: timer.signal })));
    await Promise.race(ends.map((end) => end.catch(() => {})));
    timer.abort();
    if (this.lives) this.overdue = death.kind === 'point' || over.aborted;
    this.kill();
    return this.#ended;
  }

  /** Resolves after this many more lines, or when the process has written nothing for SILENT_MS. */
  async #tells(more: number, stop: AbortSignal): Promise<void> {
    while (this.told.length < 1 + more && this.lives && !stop.aborted)
      if (await Promise.race([this.#heard.promise.then(() => false), sleep(SILENT_MS, true, { signal: stop })])) return;
  }

  /** Resolves with true when a line makes the condition true, and with false after `ms` or when the process has exited. */
  async hears(condition: () => boolean, ms: number): Promise<boolean> {
    const deadline = performance.now() + ms;
    while (!condition()) {
      const left = deadline - performance.now();
      if (left <= 0 || !this.lives) return condition();
      await Promise.race([this.#heard.promise, sleep(Math.min(left, 100))]);
    }
    return true;
  }

  /** Returns the call of `queue` that got no answer, so that the next process repeats it. */
  unanswered(): { id: string; to: string } | undefined {
    const last = this.told.findLast((told) => told.kind === 'queueing' || told.kind === 'queued');
    return last?.kind === 'queueing' ? { id: last.id, to: last.to } : undefined;
  }

  /** Returns the last position that was read. The next process continues after this position. */
  readTo(): number | undefined {
    return this.told.findLast((told) => told.kind === 'read')?.seq;
  }
}

async function aborted(signal: AbortSignal, stop: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort', { signal: stop });
}
