import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { logOf, parseAddress, type LogKey } from '../core/address.ts';
import type { EventInput, Handled } from '../core/event.ts';
import type { Item } from '../core/items.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import { isType, notificationOf } from '../core/records.ts';
import { Inbox } from '../inbox/index.ts';
import { memoryStore } from '../stores/index.ts';
import { createBus } from './bus.ts';
import type { Subscriber } from './subscriber.ts';

const AGENTS = ['shop/claude', 'shop/codex'];
const SUBJECTS = ['shop/claude', 'shop/claude#a', 'shop/claude#b', 'shop/codex', 'shop/*'];

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing) await close();
  closing = [];
});

const SEVERE = ['build.failed', 'alert.firing'];

type Rule = Pick<Subscriber, 'id'> & {
  readonly types: readonly string[];
  readonly over?: readonly string[];
  readonly supersede?: boolean;
  readonly asks?: boolean;
  readonly dedupeWindowMs?: number;
};

/**
 * Subscribers to alerts that are withdrawn, to states that supersede each other, to plain events, and to events with a condition.
 * Two subscribers listen to alerts, and their notifications share a key.
 */
const RULES: readonly Rule[] = [
  { id: 'alert', types: ['alert.firing', 'alert.resolved'], over: ['alert.resolved'] },
  { id: 'pager', types: ['alert.firing'], over: ['alert.resolved'], asks: true },
  { id: 'build', types: ['build.failed', 'build.passed'], supersede: true },
  { id: 'plain', types: ['file.changed', 'file.deleted'] },
  { id: 'asked', types: ['job.late', 'job.done'], over: ['job.done'], asks: true },
];

function subscriber({ id, types, over, supersede = false, asks = false, dedupeWindowMs = 0 }: Rule, maxSize: number): Subscriber {
  return {
    id,
    name: id,
    description: '',
    version: '1.0.0',
    events: { types, severityFilter: 'debug' },
    batching: { windowMs: 1_000, maxSize, dedupeWindowMs },
    output: { priority: 'normal', injectAt: 'immediate', core: false, supersede },
    from: { folder: 'program', file: 'test' },
    ...(over === undefined ? {} : { withdraw: { types: over } }),
    ...(asks ? { condition: { expression: 'true' } } : {}),
  };
}

/** `n` numbers the events in the order of their arrival. */
type Happened = {
  readonly n: number;
  readonly type: string;
  readonly key: string;
  readonly subject: string;
  readonly critical?: boolean;
  readonly message?: string;
};

async function stage(
  foldMs: number,
  maxSize: number,
  how: { readonly dedupeWindowMs?: number; readonly supersede?: boolean } = {},
) {
  const inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
  const subscribers = RULES.map((rule) => subscriber({ ...rule, ...how }, maxSize));
  const bus = createBus({
    inbox,
    subscribers: { of: () => ({ subscribers, problems: [] }) },
    foldMs,
    // The evaluations end in a different order from the events.
    evaluate: async (_, context) => {
      const { payload } = context as { payload: { n: number } };
      for (let turns = (payload.n * 7) % 5; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
      return { kind: 'value', value: true };
    },
  });
  closing.push(async () => {
    await bus.close();
    await inbox.close();
  });
  for (const there of ['shop/claude#a', 'shop/claude#b', 'shop/codex#c']) await inbox.conversation(there).seen();
  const emit = ({ n, type, key, subject, critical, message }: Happened): Promise<readonly Handled[]> => {
    const event: EventInput = {
      type,
      subject,
      source: 'test',
      key,
      message: message ?? `${type} ${n}`,
      severity: SEVERE.includes(type) ? 'error' : 'info',
      data: { n, ...(critical ? { priority: 'critical' } : {}) },
    };
    return bus.emit(event).then(({ heard }) => heard);
  };
  return { inbox, bus, emit };
}

type Step =
  | { readonly do: 'emit'; readonly state: 0 | 1; readonly key: string; readonly subject: string; readonly critical: boolean }
  /** `block`: blocks the thread for longer than the fold time of 1 ms, so that no timer runs. */
  | { readonly do: 'flush' | 'yield' | 'block' };

const steps = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('emit' as const),
        state: fc.constantFrom(0 as const, 1 as const),
        key: fc.constantFrom('k1', 'k1', 'k2', 'k3'),
        subject: fc.constantFrom(...SUBJECTS),
        critical: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('flush' as const, 'yield' as const, 'block' as const) }) },
  ),
  { maxLength: 30 },
);

type Setting = { readonly foldMs: number; readonly maxSize: number; readonly family: Family };
const FAMILIES = {
  alert: ['alert.firing', 'alert.resolved'],
  build: ['build.failed', 'build.passed'],
  file: ['file.changed', 'file.deleted'],
  job: ['job.late', 'job.done'],
} as const;
type Family = keyof typeof FAMILIES;
const setting = fc.record({
  foldMs: fc.constantFrom(0, 1, 60_000),
  maxSize: fc.constantFrom(2, 50),
  family: fc.constantFrom(...(Object.keys(FAMILIES) as Family[])),
});

/**
 * Emits all events without waiting, except at `yield`. Between two events, the bus can write only at the steps `flush`, `yield`
 * and `block`.
 */
async function run(sequence: readonly Step[], { foldMs, maxSize, family }: Setting) {
  const { inbox, bus, emit } = await stage(foldMs, maxSize);
  const happened: Happened[] = [];
  const emitted: Promise<unknown>[] = [];
  for (const step of sequence) {
    if (step.do === 'emit') {
      const { key, subject, critical } = step;
      const one = { n: happened.length, type: FAMILIES[family][step.state], key, subject, critical };
      happened.push(one);
      emitted.push(emit(one));
    } else if (step.do === 'flush') void bus.flush();
    else if (step.do === 'yield') await new Promise((resolve) => setImmediate(resolve));
    else if (step.do === 'block') for (const until = performance.now() + 1.1; performance.now() < until;);
  }
  await bus.flush();
  await Promise.all(emitted);
  return { inbox, happened };
}

const numberOf = (message: string): number => Number(/ (\d+)$/.exec(message)?.[1] ?? Number.NaN);

type Written = { readonly key: string; readonly by: string; readonly n: number };

/** Reads the writes in the log, in order: key, subscriber and receiver of each. */
async function written(inbox: Inbox, log: LogKey): Promise<readonly Written[]> {
  const found: Written[] = [];
  const of = new Map<string, Omit<Written, 'n'>>();
  const add = (what: Omit<Written, 'n'> | undefined, message: string | undefined): void => {
    if (what !== undefined && message !== undefined) found.push({ ...what, n: numberOf(message) });
  };
  for (const { body } of await inbox.store.read({ log, limit: 10_000 })) {
    if (isType(body, 'system_notification_queued')) {
      const { id, key = '', message, subscriber } = notificationOf(body);
      if (subscriber?.rest) continue;
      const what = { key, by: `${subscriber?.id} for ${JSON.stringify(body.audience ?? body.conversation)}` };
      of.set(id, what);
      add(what, message);
    } else if (isType(body, 'system_notification_folded')) add(of.get(body.into), body.differs?.message);
  }
  return found;
}

const isGrowing = (numbers: readonly number[]): boolean => numbers.every((n, i) => n >= (numbers[i - 1] ?? n));

const numbersIn = (item: Item): number[] =>
  [item.notification.message, ...item.differs.flatMap(({ message }) => message ?? [])].map(numberOf);

const covers = (subject: string, log: LogKey, audience?: string): boolean => {
  const address = parseAddress(subject);
  if (address.kind === 'project') return true;
  return logOf(address) === log && (audience === undefined || address.kind === 'agent' || address.conversation === audience);
};

describe('in one batch', () => {
  proves('bus:order');

  const emitted = async (happened: readonly Omit<Happened, 'n' | 'subject'>[], { read = false } = {}) => {
    const { inbox, bus, emit } = await stage(100, 50);
    const heard = happened.map((each, n) => emit({ ...each, n, subject: 'shop/claude' }));
    await bus.flush();
    await Promise.all(heard);
    if (!read) return (await inbox.open('shop/claude')).map((item) => item.notification.message);
    const result = { type: 'tool_call_response', id: 'c', content: 'ok', is_error: false } as const;
    const carried = await inbox.conversation('shop/claude#a').carry(result, { at: 'tool_batch_end' });
    return carried.view?.items.map((item) => item.text) ?? [];
  };

  it('an alert that ends and then fires again is firing', async () => {
    const types = ['alert.firing', 'alert.resolved', 'alert.firing'];
    const open = await emitted(types.map((type) => ({ type, key: 'disk' })));
    expect(open).toEqual(['alert.resolved 1', 'alert.firing 2', 'alert.firing 2']);
  });

  it('an alert that fires again with the same message and data within the dedupe window is firing', async () => {
    const { inbox, bus } = await stage(100, 50, { dedupeWindowMs: 5_000, supersede: true });
    const events = ['alert.firing', 'alert.resolved', 'alert.firing', 'alert.resolved', 'alert.firing'].map((type) =>
      bus.emit({ type, subject: 'shop/claude', source: 'test', key: 'disk', message: 'disk', data: { disk: 1 } }),
    );
    await bus.flush();
    await Promise.all(events);
    const mine = (await inbox.open('shop/claude')).filter((item) => item.notification.subscriber?.id === 'alert');
    expect(mine.map(({ notification: { kind, deliver } }) => [kind.name, deliver]).at(-1)).toEqual(['firing', 'now']);
  });

  it('a later event withdraws an event whose condition is still being evaluated', async () => {
    expect(await emitted(['job.late', 'job.done'].map((type) => ({ type, key: 'nightly' })))).toEqual(['job.done 1']);
  });

  it('a held event is written before a later interrupt of its key', async () => {
    const passed = Array.from({ length: 3 }, () => ({ type: 'build.passed', key: 'web' }));
    const open = await emitted([...passed, { type: 'build.failed', key: 'web', critical: true }]);
    expect(open).toEqual(['build.passed 0', 'build.passed 2', 'build.failed 3']);
  });

  it('the last of several repetitions is the current state', async () => {
    const states = ['changed', 'changed', 'deleted', 'changed'];
    const open = await emitted(
      states.map((state) => ({ type: `file.${state}`, key: 'a.ts', message: `a.ts was ${state}` })),
      {
        read: true,
      },
    );
    expect(open.join()).toMatch(/deleted.*changed/s);
  });
});

describe('writes for one key happen in the order in which their events arrived', () => {
  proves('bus:order');

  it('with any events, any subscribers, any receivers and any fold time', async () => {
    await fc.assert(
      fc.asyncProperty(steps, setting, async (sequence, how) => {
        const { inbox, happened } = await run(sequence, how);
        for (const log of AGENTS as LogKey[]) {
          const all = await written(inbox, log);
          const open = await inbox.open(log);
          for (const [key = '', ofKey = []] of Object.entries(Object.groupBy(all, (each) => each.key))) {
            for (const [by, mine = []] of Object.entries(Object.groupBy(ofKey, (each) => each.by)))
              expect(
                mine.map(({ n }) => n),
                `${key} by ${by}`,
              ).toSatisfy(isGrowing);
            // Each receiver must get the newest state, because newer states supersede older states.
            if (how.family === 'build')
              expect(
                ofKey.map(({ n }) => n),
                key,
              ).toSatisfy(isGrowing);
            const last = happened.findLast((each) => each.key === key && covers(each.subject, log));
            if (how.maxSize > happened.length) expect(ofKey.at(-1)?.n, `the newest of ${key} in ${log}`).toBe(last?.n);
          }
          for (const { n, type, key, subject } of happened) {
            if (type !== 'alert.resolved' && type !== 'job.done') continue;
            const ofKey = open.filter((item) => item.notification.key === key && covers(subject, log, item.audience));
            for (const number of ofKey.flatMap(numbersIn))
              expect(number, `${key} in ${log}: taken back by ${n}`).toBeGreaterThanOrEqual(n);
          }
        }
      }),
      { numRuns: 500 },
    );
  });
});
