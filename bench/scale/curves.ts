/** Measures how the costs of operations grow with the store, the callers and the subscribers. */
import type { ConversationId, LogKey } from '../../src/core/address.ts';
import { toLog, type Inbox } from '../../src/inbox/index.ts';
import os from 'node:os';
import { flood, OF_THE_FIRST_DESIGN, Stage } from '../bus/stage.ts';
import { carryTen } from '../rows/carry-long-log.ts';
import { fill } from '../log/fill.ts';
import { CONVERSATION, data, message } from '../log/ours.ts';
import { medianMs } from '../rounds.ts';
import type { Started } from './engines.ts';

export type Point = {
  readonly curve: 'records' | 'agents' | 'callers' | 'subscribers';
  readonly engine: string;
  /** The number of records in the log, of agents in the project, of callers at the same time, or of subscribers. */
  readonly at: number;
  /** The measured figures by name. Each name contains the unit. */
  readonly figures: Readonly<Record<string, number>>;
};
type Report = (point: Point) => void;

const FOR_MS = 400;
const CALLERS_MS = 4_000;
/** The largest number of agents for which a fan-out is measured: with more agents, it takes too long. */
const FAN_OUT_TO = 100_000;

/** Measures carrying and listing at each length of one growing log. */
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
        'records a second while the log fills': (to - from) / seconds,
        'client CPU us a record': (user + system) / (to - from),
        'bytes a record': (bytes - before) / (to - from),
      },
    });
    before = started.bytes();
  }
  await inbox.close();
}

/** Measures queueing, carrying, listing agents and fanning out in a project with more and more agents. */
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
    report({
      curve: 'agents',
      engine,
      at: to,
      figures: {
        'page of 100 agents ms': page,
        'queue, offer, confirm ms': queueAndCarry,
        'bytes an idle agent': (bytes - before) / (to - from),
        ...(to > FAN_OUT_TO ? {} : await fanOut(inbox, to)),
      },
    });
    before = started.bytes();
  }
  await inbox.close();
}

async function fanOut(inbox: Inbox, agents: number): Promise<Point['figures']> {
  const [began, cpu, rss] = [performance.now(), process.cpuUsage(), process.memoryUsage.rss()];
  await inbox.queue('bench/*', { kind: 'a.b', message: `to all ${agents}` });
  const { user, system } = process.cpuUsage(cpu);
  return {
    'fan-out ms an agent': (performance.now() - began) / agents,
    'fan-out client CPU us an agent': (user + system) / agents,
    'fan-out additional memory MB': (process.memoryUsage.rss() - rss) / 1e6,
  };
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

/** Queues, offers and confirms notifications of different agents, with more and more callers at the same time in this process. */
export async function callerCurve(engine: string, started: Started, sizes: readonly number[], report: Report): Promise<void> {
  const inbox = await started.open('callers');
  let agents = 0;
  for (const at of sizes) {
    const bytes = started.bytes();
    const [began, cpu, busy] = [performance.now(), process.cpuUsage(), busyUs()];
    const until = began + CALLERS_MS;
    let delivered = 0;
    const caller = async (): Promise<void> => {
      while (performance.now() < until) {
        const log = logOf(agents++);
        const whose = inbox.conversation({ log, conversation: 'main' as ConversationId });
        // The first notification of an agent costs more, so each agent gets ten.
        for (let n = 0; n < 10 && performance.now() < until; n++, delivered++) {
          await inbox.queue(log, { kind: 'tool.stopped', message: message(n), data: data(n) });
          await (await whose.offer({ at: 'tool_result' }))?.confirm();
        }
      }
    };
    await Promise.all(Array.from({ length: at }, caller));
    const { user, system } = process.cpuUsage(cpu);
    report({
      curve: 'callers',
      engine,
      at,
      figures: {
        'notifications a second': (delivered / (performance.now() - began)) * 1_000,
        'client CPU us a notification': (user + system) / delivered,
        'CPU us a notification, all processes of the machine': (busyUs() - busy) / delivered,
        'bytes a notification': (started.bytes() - bytes) / delivered,
      },
    });
  }
  await inbox.close();
}

/** Returns the processor time in µs that the machine has used since its start. */
const busyUs = (): number =>
  os.cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + (user + nice + sys + irq) * 1_000, 0);

/** Emits events in a project with more and more subscribers, at least nine. Seven of the subscribers match the events. */
export async function subscriberCurve(sizes: readonly number[], report: Report): Promise<void> {
  const events = 40_000;
  for (const at of sizes) {
    const stage = new Stage(undefined, { others: at - OF_THE_FIRST_DESIGN });
    const cpu = process.cpuUsage();
    await flood(stage, events);
    const { user, system } = process.cpuUsage(cpu);
    await stage.close();
    report({ curve: 'subscribers', engine: 'memory', at, figures: { 'CPU us an event': (user + system) / events } });
  }
}
