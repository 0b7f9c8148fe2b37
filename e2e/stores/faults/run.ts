/**
 * Runs schedules. For each schedule, starts and kills the workers, makes the faults, and lets another process deliver the
 * notifications that are still open. Then the checker reads the journal and the store.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ConversationId, LogKey } from '../../../src/core/address.ts';
import { EarpieceError } from '../../../src/core/errors.ts';
import type { NotificationId } from '../../../src/core/notification.ts';
import { queuedRecord, type Draft, type Stored } from '../../../src/core/records.ts';
import { isAlive } from '../../../src/inbox/index.ts';
import { openStore } from '../../../src/stores/index.ts';
import { check, type Counts, NOTHING } from './checker.ts';
import type { Engine } from './engines/engine.ts';
import { Life } from './life.ts';
import { HOST, LOGS, type Orders, OWN, PAST, roleOf, type Slot, SLOTS, type Told } from './roles.ts';
import { type Action, type Death, type Schedule, scheduleOf, type Wanted } from './schedule.ts';

export type Options = Wanted & {
  /** The numbers of the schedules. */
  readonly numbers: readonly number[];
  /** No further schedule begins after an abort. */
  readonly signal?: AbortSignal;
  readonly onSchedule?: (schedule: Schedule) => void;
  readonly onVerdict?: (schedule: Schedule, verdict: Verdict) => void;
};

export type Verdict = {
  /** How many schedules were run. */
  readonly schedules: number;
  readonly counts: Counts;
  /** How often each death and each fault happened, by its name. */
  readonly happened: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
  readonly seconds: number;
};

const DAY = 86_400_000;
/** The maximum time after all faults until each slot has started its last process. */
const LAST_MS = 15_000;
/** The options of a call that may wait for a slow server. */
const PATIENT = { withinMs: 60_000 };
/** How long a reader may take to read the newest record. */
const READ_MS = 15_000;

export async function run(engine: Engine, options: Options): Promise<Verdict> {
  const started = performance.now();
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-compiled-'));
  const env = { ...process.env, NODE_COMPILE_CACHE: folder };
  const total = { schedules: 0, counts: { ...NOTHING }, happened: {} as Record<string, number>, problems: [] as string[] };
  try {
    for (const number of options.numbers) {
      if (options.signal?.aborted) break;
      const schedule = scheduleOf(number, options);
      total.schedules++;
      options.onSchedule?.(schedule);
      const verdict = await new Run(engine, schedule, env).verdict();
      for (const name of Object.keys(NOTHING) as (keyof Counts)[]) total.counts[name] += verdict.counts[name];
      for (const [name, times] of Object.entries(verdict.happened)) total.happened[name] = (total.happened[name] ?? 0) + times;
      total.problems.push(...verdict.problems.map((problem) => `schedule ${number}: ${problem}`));
      options.onVerdict?.(schedule, verdict);
    }
    return { ...total, seconds: (performance.now() - started) / 1_000 };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

class Run {
  readonly #engine: Engine;
  readonly #schedule: Schedule;
  readonly #env: NodeJS.ProcessEnv;
  readonly #told: Told[] = [];
  readonly #happened: Record<string, number> = {};
  readonly #problems: string[] = [];
  readonly #alive = new Map<Slot, Life>();
  #engineFaults: Promise<void> = Promise.resolve();
  /** The position after which the reader begins. */
  #from = 0;
  #url = '';
  #lives = 0;

  constructor(engine: Engine, schedule: Schedule, env: NodeJS.ProcessEnv) {
    this.#engine = engine;
    this.#schedule = schedule;
    this.#env = env;
  }

  async verdict(): Promise<Verdict> {
    const started = performance.now();
    this.#url = await this.#engine.begin(this.#schedule);
    try {
      await this.#open();
      this.#from = await setUp(this.#url);
      const reader = await this.#work();
      await this.#engine.heal();
      await this.#drain();
      const { counts, problems } = await this.#check(reader);
      return {
        schedules: 1,
        counts,
        happened: this.#happened,
        problems: [...this.#problems, ...problems],
        seconds: (performance.now() - started) / 1_000,
      };
    } finally {
      await this.#engine.heal();
      for (const life of this.#alive.values()) life.kill();
      await Promise.all([...this.#alive.values()].map((life) => life.end()));
      await this.#engine.end();
    }
  }

  /**
   * Lets two processes create the store at the same time, and kills one process. The other process and the set-up must find a
   * complete store.
   */
  async #open(): Promise<void> {
    const { opening } = this.#schedule;
    const dying = this.#born('opener', 'dying', {}, opening);
    const other = this.#born('opener', 'other');
    const [end, otherEnd] = await Promise.all([dying.untilDeath(opening, new AbortController().signal), other.end()]);
    // If the other process was faster, the dying process had nothing to do and reached no point.
    if (end.signal === 'SIGKILL' && !dying.overdue) this.#count(opening);
    if (otherEnd.code !== 0) this.#problems.push(`the other process could not open the store: ${otherEnd.stderr.trim()}`);
  }

  /** Runs the workers and the faults. Resolves with the reader, which still runs. */
  async #work(): Promise<Life> {
    const over = new AbortController();
    const last: Promise<unknown>[] = [];
    const lives = SLOTS.map((slot) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      last.push(promise);
      return this.#livesOf(slot, over.signal, resolve);
    });
    // The faults begin when every worker has opened the store.
    await Promise.all([...this.#alive.values()].map((life) => life.ready()));
    await Promise.all([sleep(this.#schedule.ms), ...this.#schedule.actions.map((action) => this.#act(action))]);
    await Promise.race([Promise.all(last), sleep(LAST_MS, undefined, { ref: false })]);
    over.abort();
    await Promise.all(lives);
    return this.#alive.get('server') as Life;
  }

  async #livesOf(slot: Slot, over: AbortSignal, onLast: () => void): Promise<void> {
    let given: Partial<Orders> = slot === 'server' ? { after: this.#from } : {};
    for (const death of this.#schedule.lives[slot]) {
      if (over.aborted) break;
      const life = this.#born(roleOf(slot), `${slot}-${++this.#lives}`, given, death);
      this.#alive.set(slot, life);
      const { signal, stderr } = await life.untilDeath(death, over);
      if (signal !== 'SIGKILL') this.#problems.push(`${life.name} ended by itself: ${stderr.trim()}`);
      else if (life.overdue) this.#happen('kill: its point was not reached in time');
      else this.#count(death);
      given = this.#heritage(slot, life, given);
    }
    const life = this.#born(roleOf(slot), `${slot}-${++this.#lives}`, given);
    this.#alive.set(slot, life);
    await life.ready();
    onLast();
    // The reader continues until it has read the newest record.
    if (slot === 'server') return;
    await Promise.race([life.end(), over.aborted || new Promise((resolve) => over.addEventListener('abort', resolve))]);
    if (!life.lives) this.#problems.push(`${life.name} ended by itself: ${(await life.end()).stderr.trim()}`);
    else this.#happen('kill');
    life.signal('SIGCONT');
    life.kill();
    await life.end();
    this.#told.push(...life.told);
    this.#alive.delete(slot);
  }

  /** Returns the orders that the next process of the slot gets after this process has ended. */
  #heritage(slot: Slot, life: Life, before: Partial<Orders>): Partial<Orders> {
    this.#told.push(...life.told);
    if (slot === 'server') return { after: life.readTo() ?? before.after ?? 0 };
    // A process that ended before its first `queueing` passes on the call that it was to repeat.
    const unanswered = life.told.some(({ kind }) => kind === 'queueing') ? life.unanswered() : before.unanswered;
    return unanswered === undefined ? {} : { unanswered };
  }

  #born(role: Orders['role'], name: string, given: Partial<Orders> = {}, death?: Death): Life {
    const { seed, number, thread, bug } = this.#schedule;
    const orders = { url: this.#url, role, name, seed: `${seed} ${number}`, thread, ...(bug ? { bug } : {}), ...given };
    return new Life(orders, this.#env, death);
  }

  async #act(action: Action): Promise<void> {
    await sleep(action.atMs);
    if (action.kind === 'pause') {
      const life = this.#alive.get(action.slot);
      if (life === undefined) return;
      life.signal('SIGSTOP');
      await sleep(action.ms);
      life.signal('SIGCONT');
      this.#happen(`pause of a ${roleOf(action.slot)}`);
    } else if (action.kind === 'clock') {
      const life = this.#alive.get(action.slot);
      life?.order({ clock: action.by });
      await sleep(action.ms);
      life?.order({ clock: 0 });
      this.#happen('clock jump');
    } else {
      // Only one fault of the engine happens at a time, even if the previous fault takes longer than planned.
      this.#engineFaults = this.#engineFaults.then(async () => {
        // Some faults need a request to the server, which may time out.
        const done = await this.#engine.perform(action).catch(() => false);
        this.#happen(done ? action.kind : `${action.kind}: could not be done`);
      });
      await this.#engineFaults;
    }
  }

  /**
   * Starts a process that delivers the notifications that are still open. If the store refused one of its calls, that process may
   * have left a lease, so a second process follows.
   */
  async #drain(): Promise<void> {
    for (const name of ['drain-1', 'drain-2']) {
      const drain = this.#born('drain', name);
      const { code, stderr } = await drain.end();
      this.#told.push(...drain.told);
      if (code !== 0) this.#problems.push(`${name} ended with ${code}: ${stderr.trim()}`);
      if (!drain.told.some(({ kind }) => kind === 'refused')) return;
    }
  }

  async #check(reader: Life): Promise<{ counts: Counts; problems: readonly string[] }> {
    const store = await openStore(this.#url);
    try {
      const last = await patiently(() => lastSeq(store));
      if (!(await reader.hears(() => (reader.readTo() ?? 0) >= last, READ_MS)))
        this.#problems.push(
          reader.lives
            ? `the reader is at ${reader.readTo() ?? this.#from} ${READ_MS / 1_000} s after record ${last}, the newest one`
            : `${reader.name} ended by itself: ${(await reader.end()).stderr.trim()}`,
        );
      this.#told.push(...reader.told);
      const { counts, problems } = await patiently(() => check(store, { told: this.#told, from: this.#from }, isAlive));
      return {
        counts,
        problems: problems.length === 0 ? problems : [...problems, this.#kept(await store.read({ limit: 1_000_000 }))],
      };
    } finally {
      await store.close();
    }
  }

  /** Keeps the journal and the records of a schedule with problems. Returns a line that names their folder. */
  #kept(records: readonly Stored[]): string {
    if (this.#schedule.bug !== undefined) return 'a bug that was put in on purpose';
    const folder = mkdtempSync(join(tmpdir(), 'earpiece-journal-'));
    const write = (name: string, lines: readonly object[]): void =>
      writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    write(
      'journal.jsonl',
      this.#told.toSorted((a, b) => a.t - b.t),
    );
    write('records.jsonl', records);
    return `the journal and the records are in ${folder}`;
  }

  #count(death: Death): void {
    this.#happen(death.kind === 'kill' ? 'kill' : death.point);
  }

  #happen(what: string): void {
    this.#happened[what] = (this.#happened[what] ?? 0) + 1;
  }
}

/** Repeats the work while the engine is still electing a leader. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const until = performance.now() + PATIENT.withinMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof EarpieceError) || !error.retryable || performance.now() > until) throw error;
    }
  }
}

const lastSeq = async (store: Awaited<ReturnType<typeof openStore>>): Promise<number> =>
  (await store.read({ newestFirst: true, limit: 1 }))[0]?.seq ?? 0;

/** Makes conversations, and old records that `prune` removes. Resolves with the newest position. */
async function setUp(url: string): Promise<number> {
  const past = await openStore(url, { clock: { now: () => Date.now() - 3 * DAY } });
  const ids = Array.from({ length: 100 }, (_, i) => `past-${i}` as NotificationId);
  const queue = ids.map((id): Draft =>
    queuedRecord({ id, kind: { source: 'past', name: 'thing' }, level: 'info', message: 'long ago', expiresAt: null }, {}),
  );
  await past.append(PAST as LogKey, queue, PATIENT);
  await Promise.all(
    ids
      .slice(0, 90)
      .map((id) =>
        past.append(
          PAST as LogKey,
          [{ type: 'notification_closed', ids: [id], outcome: 'expired', by: 'test', reason: 'past' }],
          PATIENT,
        ),
      ),
  );
  await past.close();
  const store = await openStore(url);
  for (const [log, conversation] of [
    [LOGS.coder, OWN],
    [LOGS.coder, HOST],
    [LOGS.tester, 'main'],
  ])
    await store.touch({ log: log as LogKey, conversation: conversation as ConversationId }, PATIENT);
  const head = await lastSeq(store);
  await store.close();
  return head;
}
