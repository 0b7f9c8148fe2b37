/** Measures one operation at several sizes of a store. */
import type { ConversationId, LogKey } from '../../src/core/address.ts';
import { toLog } from '../../src/inbox/index.ts';
import { flood, Stage } from '../bus/stage.ts';
import { carryTen } from '../rows/carry-long-log.ts';
import { fill } from '../log/fill.ts';
import { CONVERSATION } from '../log/ours.ts';
import { medianMs } from '../rounds.ts';
import type { Started } from './engines.ts';

export type Point = {
  readonly curve: 'records' | 'agents' | 'subscribers';
  readonly engine: string;
  /** The number of records in the log, of agents in the project, or of subscribers. */
  readonly at: number;
  /** The measured figures by name; each name contains the unit. */
  readonly figures: Readonly<Record<string, number>>;
};
type Report = (point: Point) => void;

const FOR_MS = 400;

/** Carries and lists at each length of one log that grows. */
export async function recordCurve(engine: string, started: Started, sizes: readonly number[], report: Report): Promise<void> {
  const inbox = await started.open('records');
  const log = toLog('bench/agent');
  const conversation = inbox.conversation(CONVERSATION).id;
  let before = started.bytes();
  for (let n = 0, from = 0; n < sizes.length; from = sizes[n++] ?? 0) {
    const to = sizes[n] ?? 0;
    const [began, cpu] = [performance.now(), process.cpuUsage()];
    await fill(inbox.store, { log, conversation, from, to });
    const seconds = (performance.now() - began) / 1_000;
    const { user, system } = process.cpuUsage(cpu);
    const bytes = started.bytes();
    const carry = await carryTen(inbox, FOR_MS);
    const list = await medianMs(
      FOR_MS,
      () => undefined,
      async () => {
        await inbox.store.items(log, { kind: 'open', limit: 50 });
        await inbox.store.items(log, { kind: 'latest', limit: 50 });
        await inbox.store.read({ log, newestFirst: true, limit: 50 });
      },
    );
    report({
      curve: 'records',
      engine,
      at: to,
      figures: {
        'carry ms': carry,
        'list ms': list,
        'records a second while it fills': (to - from) / seconds,
        'client CPU us a record': (user + system) / (to - from),
        'bytes a record': (bytes - before) / (to - from),
      },
    });
    before = started.bytes();
  }
  await inbox.close();
}

/** Queues, carries, lists agents and fans out in a project that grows. */
export async function agentCurve(engine: string, started: Started, sizes: readonly number[], report: Report): Promise<void> {
  const inbox = await started.open('agents');
  const { store } = inbox;
  const conversation = 'main' as ConversationId;
  let before = started.bytes();
  for (let n = 0, from = 0; n < sizes.length; from = sizes[n++] ?? 0) {
    const to = sizes[n] ?? 0;
    await several(from, to, (i) => store.touch({ log: logOf(i), conversation, host: 'bench' }, { withinMs: 60_000 }));
    const bytes = started.bytes();
    const middle = logOf(Math.floor(to / 2));
    const page = await medianMs(
      FOR_MS,
      () => undefined,
      () => store.agents({ project: 'bench', after: middle, limit: 100 }),
    );
    let queued = 0;
    const queueAndCarry = await medianMs(
      FOR_MS,
      () => undefined,
      async () => {
        await inbox.queue(middle, { kind: 'a.b', message: `m ${queued}` });
        const offer = await inbox.conversation({ log: middle, conversation }).offer({ at: 'tool_result' });
        await offer?.confirm();
        queued++;
      },
    );
    const [began, cpu, rss] = [performance.now(), process.cpuUsage(), process.memoryUsage.rss()];
    await inbox.queue('bench/*', { kind: 'a.b', message: `to all ${to}` });
    const { user, system } = process.cpuUsage(cpu);
    report({
      curve: 'agents',
      engine,
      at: to,
      figures: {
        'page of 100 agents ms': page,
        'queue, offer, confirm ms': queueAndCarry,
        'fan-out ms an agent': (performance.now() - began) / to,
        'fan-out client CPU us an agent': (user + system) / to,
        'fan-out more memory MB': (process.memoryUsage.rss() - rss) / 1e6,
        'bytes an idle agent': (bytes - before) / (to - from),
      },
    });
    before = started.bytes();
  }
  await inbox.close();
}

const logOf = (i: number): LogKey => `bench/agent-${String(i).padStart(8, '0')}` as LogKey;

/** Runs the work for each number, 64 at the same time. */
async function several(from: number, to: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = from;
  const one = async (): Promise<void> => {
    while (next < to) await work(next++);
  };
  await Promise.all(Array.from({ length: 64 }, one));
}

/** Emits events in a project with more and more subscribers; nine of the subscribers match the events. */
export async function subscriberCurve(sizes: readonly number[], report: Report): Promise<void> {
  const events = 40_000;
  for (const at of sizes) {
    const stage = new Stage(undefined, { others: Math.max(0, at - 9) });
    const cpu = process.cpuUsage();
    await flood(stage, events);
    const { user, system } = process.cpuUsage(cpu);
    await stage.close();
    report({ curve: 'subscribers', engine: 'memory', at, figures: { 'CPU us an event': (user + system) / events } });
  }
}
