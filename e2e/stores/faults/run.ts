/**
 * Kills four processes that share one database, at random and at each named point, and checks the log that they leave.
 *
 * A run is a series of epochs, each with its own file. Workers run in four slots. Each worker ends by SIGKILL, either from
 * outside after a random time or from inside at a point. The next worker of its slot starts at once, while the other three
 * continue. At the end of an epoch one more process delivers the rest, then the checker reads the log.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConversationId, LogKey } from '../../../src/core/address.ts';
import { FAULT_POINTS } from '../../../src/core/faults.ts';
import type { NotificationId } from '../../../src/core/notification.ts';
import { queuedRecord, type Draft } from '../../../src/core/records.ts';
import { isAlive } from '../../../src/inbox/index.ts';
import { openSqliteStore } from '../../../src/stores/index.ts';
import { programOf } from '../../built.ts';
import { check, type Counts } from './checker.ts';
import { AT_POINT, type Bug, LOGS, type Point, type Role, type Told } from './roles.ts';

export type Options = {
  /** The number of random kills. */
  readonly rounds: number;
  /** The number of deaths at each point. */
  readonly pointsEach: number;
  /** The fault points to use; by default all. */
  readonly points?: readonly Point[];
  readonly bug?: Bug;
  /** Whether each worker opens its database in a separate thread. */
  readonly thread?: boolean;
  readonly onEpoch?: (line: string) => void;
};

export type Report = {
  readonly random: number;
  readonly points: Readonly<Record<string, number>>;
  readonly counts: Counts;
  readonly problems: readonly string[];
};

type Death = { readonly kind: 'random' } | { readonly kind: 'point'; readonly point: Point };

/** The number of kills on one file before the check. */
const EPOCH = 100;
const SLOTS: readonly Role[] = ['producer', 'producer', 'carrier', 'carrier'];
/** A worker that does not reach its point in this time is killed and replaced. */
const OVERDUE_MS = 10_000;
const WORKER = programOf('faults-worker');
const DAY = 86_400_000;

export async function run(options: Options): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-faults-'));
  const report = {
    random: 0,
    points: {} as Record<string, number>,
    counts: { acknowledged: 0, lost: 0, twice: 0, reoffered: 0, stuck: 0 },
    problems: [] as string[],
  };
  const died = (death: Death): void => {
    if (death.kind === 'random') report.random++;
    else report.points[death.point] = (report.points[death.point] ?? 0) + 1;
  };
  try {
    const env = {
      ...process.env,
      NODE_COMPILE_CACHE: join(folder, 'cache'),
      ...(options.bug ? { EARPIECE_BUG: options.bug } : {}),
      ...(options.thread ? { EARPIECE_THREAD: '1' } : {}),
    };
    const points = options.points ?? FAULT_POINTS;
    for (const point of points) report.points[point] = 0;
    // A process that ends by itself fills the compile cache, so that the processes that are killed later start five times faster.
    await new Worker([join(folder, 'first.db'), 'drain', 'first'], env).end();
    for (const point of points.filter((name) => AT_POINT[name][0] === 'opener'))
      for (let i = 0; i < options.pointsEach; i++) {
        report.problems.push(...(await opening(join(folder, `${point}-${i}.db`), point, env)));
        died({ kind: 'point', point });
      }
    const deaths = shuffled<Death>([
      ...Array.from({ length: options.rounds }, () => ({ kind: 'random' as const })),
      ...points
        .filter((name) => AT_POINT[name][0] !== 'opener')
        .flatMap((point) => Array.from({ length: options.pointsEach }, () => ({ kind: 'point' as const, point }))),
    ]);
    for (let at = 0; at < deaths.length; at += EPOCH) {
      const path = join(folder, `epoch-${at}.db`);
      const epoch = new Epoch(path, env, died);
      await epoch.live(deaths.slice(at, at + EPOCH));
      const { counts, problems } = await epoch.verdict();
      for (const name of Object.keys(counts) as (keyof Counts)[]) report.counts[name] += counts[name];
      report.problems.push(...problems);
      options.onEpoch?.(
        `${Math.min(at + EPOCH, deaths.length)} of ${deaths.length} kills, ${report.counts.acknowledged} acknowledged, ${report.problems.length} problems`,
      );
      for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
    }
    return report;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

class Epoch {
  readonly #path: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #died: (death: Death) => void;
  readonly #told: Told[] = [];
  #lives = 0;

  constructor(path: string, env: NodeJS.ProcessEnv, died: (death: Death) => void) {
    this.#path = path;
    this.#env = env;
    this.#died = died;
  }

  async live(deaths: readonly Death[]): Promise<void> {
    await setUp(this.#path);
    const left = [...deaths];
    const over = new AbortController();
    let dying = SLOTS.length;
    await Promise.all(
      SLOTS.map(async (role) => {
        const unanswered = await this.#livesOf(role, left);
        if (--dying === 0) over.abort();
        // The other workers still need a producer or a carrier.
        else await this.#liveOn(role, unanswered, over.signal);
      }),
    );
  }

  async verdict(): Promise<{ counts: Counts; problems: string[] }> {
    const drain = new Worker([this.#path, 'drain', 'drain'], this.#env);
    const { code, stderr } = await drain.end();
    this.#told.push(...drain.told);
    if (code !== 0) this.#told.push({ kind: 'problem', text: `the drain ended with ${code}: ${stderr.trim()}` });
    const store = await openSqliteStore({ path: this.#path });
    try {
      return await check(store, this.#told, isAlive);
    } finally {
      await store.close();
    }
  }

  /**
   * Runs workers one after the other, until no planned kill is left for their role. Returns the last call of `queue` without an
   * answer.
   */
  async #livesOf(role: Role, left: Death[]): Promise<string | undefined> {
    let unanswered: string | undefined;
    for (;;) {
      const at = left.findIndex((death) => death.kind === 'random' || AT_POINT[death.point][0] === role);
      const death = at < 0 ? undefined : left.splice(at, 1)[0];
      if (death === undefined) return unanswered;
      const worker = this.#born(role, unanswered, death.kind === 'point' ? death.point : undefined);
      const signal = await this.#buried(worker, death.kind === 'point' ? worker.endsWithin(OVERDUE_MS) : worker.killedSoon());
      if (worker.overdue) left.push(death);
      else if (signal === 'SIGKILL') this.#died(death);
      unanswered = worker.unanswered();
    }
  }

  async #liveOn(role: Role, unanswered: string | undefined, over: AbortSignal): Promise<void> {
    if (over.aborted) return;
    const worker = this.#born(role, unanswered);
    over.addEventListener('abort', () => worker.kill(), { once: true });
    await this.#buried(worker, worker.end());
  }

  #born(role: Role, unanswered: string | undefined, point?: Point): Worker {
    const args = [this.#path, role, `${role}${++this.#lives}`, ...(unanswered === undefined ? [] : [unanswered])];
    const fault = point === undefined ? {} : { EARPIECE_FAULT: `${point}:${1 + Math.floor(Math.random() * 4)}` };
    return new Worker(args, { ...this.#env, ...fault });
  }

  async #buried(worker: Worker, end: ReturnType<Worker['end']>): Promise<string | null> {
    const { signal, stderr } = await end;
    this.#told.push(...worker.told);
    if (signal !== 'SIGKILL') this.#told.push({ kind: 'problem', text: `${worker.name} ended by itself: ${stderr.trim()}` });
    return signal;
  }
}

/** A worker process, with its output and its end. */
class Worker {
  readonly name: string;
  readonly told: Told[] = [];
  overdue = false;
  readonly #child: ChildProcess;
  readonly #ready: Promise<void>;
  readonly #ended: Promise<{ code: number | null; signal: string | null; stderr: string }>;
  /** Resolves with its next output. */
  #heard = Promise.withResolvers<void>();

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    this.name = args[2] ?? '';
    this.#child = spawn(process.execPath, [WORKER, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env });
    let stderr = '';
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
    this.#ready = new Promise((resolve) => {
      lines.on('line', (line) => {
        const told = JSON.parse(line) as Told;
        this.told.push(told);
        this.#heard.resolve();
        this.#heard = Promise.withResolvers();
        if (told.kind === 'ready') resolve();
      });
      lines.on('close', resolve);
    });
    this.#ended = (once(this.#child, 'close') as Promise<[number | null, string | null]>).then(([code, signal]) => ({
      code,
      signal,
      stderr,
    }));
  }

  end(): Promise<{ code: number | null; signal: string | null; stderr: string }> {
    return this.#ended;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  /** Kills the worker after some of its work, or after a time if it finds no work. */
  async killedSoon(): ReturnType<Worker['end']> {
    await this.#ready;
    await Promise.race([this.#tells(Math.random() * 40), this.#ended, sleep(1_000)]);
    await sleep(Math.random() * 10);
    this.kill();
    return this.#ended;
  }

  async #tells(more: number): Promise<void> {
    const from = this.told.length;
    while (this.told.length < from + more) await this.#heard.promise;
  }

  async endsWithin(ms: number): ReturnType<Worker['end']> {
    const timer = setTimeout(() => {
      this.overdue = true;
      this.kill();
    }, ms);
    const ended = await this.#ended;
    clearTimeout(timer);
    return ended;
  }

  /** Returns the last call of `queue` without an answer, so that the next worker can repeat it. */
  unanswered(): string | undefined {
    const last = this.told.findLast((told) => told.kind === 'queueing' || told.kind === 'queued');
    return last?.kind === 'queueing' ? JSON.stringify({ id: last.id, to: last.to }) : undefined;
  }
}

/** A file with existing conversations, and old records for `prune` to remove. */
async function setUp(path: string): Promise<void> {
  const past = await openSqliteStore({ path, clock: { now: () => Date.now() - 3 * DAY } });
  const ids = Array.from({ length: 500 }, (_, i) => `past-${i}` as NotificationId);
  const queue = ids.map((id): Draft =>
    queuedRecord({ id, kind: { source: 'past', name: 'thing' }, level: 'info', message: 'long ago', expiresAt: null }, {}),
  );
  await past.append('past/agent' as LogKey, queue);
  for (const id of ids.slice(0, 450))
    await past.append('past/agent' as LogKey, [
      { type: 'notification_closed', ids: [id], outcome: 'expired', by: 'test', reason: 'past' },
    ]);
  await past.close();
  const store = await openSqliteStore({ path });
  for (const [log, conversation] of [
    [LOGS.coder, 'own'],
    [LOGS.coder, 'host'],
    [LOGS.tester, 'main'],
  ])
    await store.touch({ log: log as LogKey, conversation: conversation as ConversationId });
  await store.close();
}

/**
 * Lets two processes create one file at the same time, and kills one of them. The other process and a third one must find the
 * file whole.
 */
async function opening(path: string, point: Point, env: NodeJS.ProcessEnv): Promise<string[]> {
  const dying = new Worker([path, 'drain', 'dying'], { ...env, EARPIECE_FAULT: `${point}:1` });
  const other = new Worker([path, 'drain', 'other'], env);
  const ends = await Promise.all([dying.end(), other.end()]);
  const third = await new Worker([path, 'drain', 'third'], env).end();
  const store = await openSqliteStore({ path });
  const problems = [...(await store.verify())];
  await store.close();
  if (ends[1].code !== 0) problems.push(`beside a process that died at ${point}: ${ends[1].stderr.trim()}`);
  if (third.code !== 0) problems.push(`after a process that died at ${point}: ${third.stderr.trim()}`);
  // If the other worker was faster, this worker had nothing to do and reached no fault point.
  if (ends[0].signal === 'SIGKILL' || problems.length > 0) return problems;
  return opening(`${path}-again`, point, env);
}

function shuffled<T>(all: readonly T[]): T[] {
  const mixed = [...all];
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [mixed[i], mixed[j]] = [mixed[j] as T, mixed[i] as T];
  }
  return mixed;
}
