import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConversationId, LogKey } from '../../core/address.ts';
import { armFaults } from '../../core/faults.ts';
import { DEFAULT_POLICY } from '../../core/policy.ts';
import type { Store } from '../../core/ports.ts';
import { memoryStore } from '../../stores/index.ts';
import { begin, Inbox } from '../index.ts';
import { proves } from '../../../e2e/verifies.ts';

const PROJECT_LOG = 'shop/*' as LogKey;
const AGENTS = Array.from({ length: 2_100 }, (_, n) => `shop/a${String(n).padStart(4, '0')}` as LogKey);
/** Agents without an active conversation, which fill the first page. */
const ENDED = Array.from({ length: 1_200 }, (_, n) => `shop/Z${String(n).padStart(4, '0')}` as LogKey);

describe('a project with more agents than one page', () => {
  proves('address:fan-out');
  let store: Store;
  let inbox: Inbox;
  let appends: number;

  beforeEach(async () => {
    store = memoryStore({ clock: { now: () => 1_700_000_000_000 } });
    const append = store.append.bind(store);
    store.append = (...args) => (appends++, append(...args));
    inbox = new Inbox({ store, policies: { policy: () => DEFAULT_POLICY } });
    const conversation = 'main' as ConversationId;
    for (const log of AGENTS) await store.touch({ log, conversation });
    for (const log of ENDED) await store.touch({ log, conversation, ended: true });
    appends = 0;
  });
  afterEach(() => inbox.close());

  const queue = (id: string) => inbox.queue('shop/*', { message: 'all', id });
  const countsOpen = (): Promise<number[]> => Promise.all(AGENTS.map((log) => store.countOpen(log)));

  it('gets a notification once in each log, in records of bounded size', async () => {
    const queued = await queue('n1');
    expect(queued).toEqual({ kind: 'queued', id: 'n1', to: AGENTS.map((log) => `${log}#main`) });
    expect(await countsOpen()).toEqual(AGENTS.map(() => 1));
    const records = await store.read({ log: PROJECT_LOG });
    expect(records.map(({ body }) => body.type)).toEqual([
      'fan_out',
      'fan_out_part',
      'fan_out_part',
      'fan_out_part',
      'fan_out_done',
    ]);
    expect(Math.max(...records.map((record) => JSON.stringify(record).length))).toBeLessThan(60_000);
    expect((await queue('n1')).kind).toBe('duplicate');
  });

  it('the answer to a repetition names the receivers of the queued notification', async () => {
    await queue('n1');
    expect((await queue('n1')).to).not.toContain('shop/*');
    const pause = { message: 'all', id: 'n2', action: 'pause' } as const;
    expect((await inbox.queue('shop/*', pause)).to).toContain('shop/*');
    expect(await inbox.queue('shop/*', { ...pause, message: 'again' })).toMatchObject({
      kind: 'duplicate',
      to: expect.arrayContaining(['shop/*']) as unknown,
    });
  });

  it.each([1, 900, 1_500, 2_099])('the next process continues a fan-out that was cut off after %i agents', async (after) => {
    let left = after;
    armFaults((at) => {
      if (at === 'fan_out.queued' && --left === 0) throw new Error('killed');
    });
    await expect(queue('n1')).rejects.toThrow('killed');
    armFaults(undefined);
    appends = 0;
    await queue('n2');
    // The second process repeats at most one page (1,000 agents), completes the fan-out, and then queues its own notification.
    expect(appends).toBeLessThan(AGENTS.length - after + 1_000 + AGENTS.length + 20);
    expect(await countsOpen()).toEqual(AGENTS.map(() => 2));
    const done = await store.read({ log: PROJECT_LOG, types: ['fan_out_done'] });
    expect(done).toHaveLength(2);
  });
});

describe('a project with many fan-outs', () => {
  proves('address:fan-out');
  const conversation = 'main' as ConversationId;
  let store: Store;
  const inboxes: Inbox[] = [];
  const open = (): Inbox => {
    const inbox = new Inbox({ store, policies: { policy: () => DEFAULT_POLICY } });
    inboxes.push(inbox);
    return inbox;
  };
  const arrives = (log: string) => store.touch({ log: log as LogKey, conversation });

  beforeEach(async () => {
    store = memoryStore({ clock: { now: () => 1_700_000_000_000 } });
    await arrives('shop/coder');
  });
  afterEach(async () => {
    armFaults(undefined);
    for (const inbox of inboxes.splice(0)) await inbox.close();
  });

  it('the next process finishes each fan-out, even if a crash cut off hundreds at the same time', async () => {
    armFaults((at) => {
      if (at === 'fan_out.intent') throw new Error('killed');
    });
    const ids = Array.from({ length: 450 }, (_, n) => `n${n}`);
    const killed = open();
    await Promise.allSettled(ids.map((id) => killed.queue('shop/*', { message: 'all', id })));
    armFaults(undefined);
    await open().queue('shop/*', { message: 'all', id: 'next' });
    const items = await store.items('shop/coder' as LogKey, { kind: 'open' });
    expect(items.map(({ id }) => id).toSorted()).toEqual([...ids, 'next'].toSorted());
    const done = await store.read({ log: PROJECT_LOG, types: ['fan_out_done'] });
    expect(done).toHaveLength(451);
  });

  it('a repeated id reaches no agent that has begun since, however many fan-outs are in between', async () => {
    const inbox = open();
    const ids = Array.from({ length: 220 }, (_, n) => `n${n}`);
    for (const id of ids) await inbox.queue('shop/*', { message: 'all', id });
    await arrives('shop/tester');
    for (const each of [inbox, open()])
      expect(await each.queue('shop/*', { message: 'all', id: 'n0' })).toEqual({
        kind: 'duplicate',
        id: 'n0',
        to: ['shop/coder#main'],
      });
    expect(await store.countOpen('shop/tester' as LogKey)).toBe(0);
  });

  it('reads each record of a fan-out once', async () => {
    const inbox = open();
    let records = 0;
    const read = store.read.bind(store);
    store.read = async (...args) => {
      const found = await read(...args);
      records += found.length;
      return found;
    };
    for (let n = 0; n < 50; n++) await inbox.queue('shop/*', { message: 'all', id: `n${n}` });
    expect(records).toBeLessThan(110);
  });
});

describe('a process whose clock is ahead by the lifetime of a notification', () => {
  const START = 1_700_000_000_000;
  const LIFE = DEFAULT_POLICY.ttlMs.warning ?? 0;
  const log = 'shop/coder' as LogKey;
  let now: number;
  let store: Store;
  const inboxes: Inbox[] = [];
  const open = (): Inbox => {
    const inbox = new Inbox({ store, policies: { policy: () => DEFAULT_POLICY } });
    inboxes.push(inbox);
    return inbox;
  };
  const shown = async (of = log): Promise<string> => {
    const offer = await open()
      .conversation({ log: of, conversation: 'main' as ConversationId })
      .offer({ at: 'tool_result' });
    return (offer?.view.items ?? []).map(({ text }) => text).join(' ');
  };

  beforeEach(async () => {
    now = START;
    store = memoryStore({ clock: { now: () => now } });
    await store.touch({ log, conversation: 'main' as ConversationId });
    now = START + LIFE;
    await open().queue('shop/tester', { message: 'from the clock that is ahead' });
    now = START;
  });
  afterEach(async () => {
    armFaults(undefined);
    for (const inbox of inboxes.splice(0)) await inbox.close();
  });

  it('finishes the fan-out of another process, and the notification does not expire early', async () => {
    proves('time:sender');
    armFaults((at) => {
      if (at === 'fan_out.intent') throw new Error('killed');
    });
    await expect(open().queue('shop/*', { message: 'the build broke', level: 'warning' })).rejects.toThrow('killed');
    armFaults(undefined);
    now = START + LIFE + 1_000;
    await store.touch({ log, conversation: 'main' as ConversationId });
    await open().queue('shop/*', { message: 'next' });
    now = START + 2_000;
    expect(await shown()).toContain('the build broke');
  });

  it('begins as a new agent, and an interrupt for the whole project does not expire early for this agent', async () => {
    proves('time:sender');
    const newcomer = 'shop/newcomer' as LogKey;
    await open().queue('shop/*', { message: 'stop the release', level: 'critical', ttlMs: LIFE });
    now = START + LIFE + 1_000;
    await begin(open().conversation({ log: newcomer, conversation: 'main' as ConversationId }));
    now = START + 2_000;
    expect(await shown(newcomer)).toContain('stop the release');
  });
});
