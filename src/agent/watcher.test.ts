/** Tests which notifications wake an idle agent, and how soon. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { NotificationInput, Subscribed } from '../core/notification.ts';
import { DEFAULT_POLICY, type Policy } from '../core/policy.ts';
import { logOf, parseAddress } from '../core/address.ts';
import { Inbox } from '../inbox/index.ts';
import { memoryStore } from '../stores/index.ts';
import { createAgent, type Agent } from './agent.ts';
import type { AgentEvent } from './events.ts';
import { scriptedModel } from './scripted-model.ts';

const ADDRESS = 'shop/coder#main';
const LOG = logOf(parseAddress(ADDRESS));

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

async function stage(wake: Partial<Policy['wake']> = {}) {
  const policy: Policy = { ...DEFAULT_POLICY, coalesceMs: {}, wake: { ...DEFAULT_POLICY.wake, ...wake } };
  const inbox = new Inbox({ store: memoryStore(), policies: { policy: () => policy }, timeZone: 'UTC' });
  const model = scriptedModel([{ text: 'I see' }]);
  const agent = await createAgent({ model, earpiece: inbox, address: ADDRESS });
  const events: { readonly event: AgentEvent; readonly at: number }[] = [];
  let look: (() => void)[] = [];
  void (async () => {
    for await (const event of agent.events()) {
      events.push({ event, at: inbox.store.now() });
      for (const each of look.splice(0)) each();
    }
  })();
  cleanups.push(async () => {
    await agent.close();
    await inbox.close();
  });
  return {
    inbox,
    agent,
    model,
    queue: (input: NotificationInput) => inbox.queue(ADDRESS, input),
    /** Queues a notification as the bus does for a subscriber with a window. */
    queueFor: async (wakeAfterMs: number, input: NotificationInput) => {
      const subscribed = {
        id: 'tool_failure',
        group: 10,
        wakeAfterMs,
        event: { type: 'x', source: 'y', severity: 'error', time: 0 },
      };
      await inbox.queue(`${LOG}#main`, input, subscribed satisfies Subscribed);
    },
    /** Resolves to the time of the first event of this type. */
    when: async (type: AgentEvent['type']): Promise<number> => {
      for (;;) {
        const found = events.find(({ event }) => event.type === type);
        if (found !== undefined) return found.at;
        await new Promise<void>((resolve) => look.push(resolve));
      }
    },
    idleAgain: async (): Promise<void> => {
      while (!events.some(({ event }) => event.type === 'mode' && event.mode === 'idle'))
        await new Promise<void>((resolve) => look.push(resolve));
    },
  };
}

/** Resolves when one more check of the watcher has ended. */
async function looked(agent: Agent, inbox: Inbox): Promise<void> {
  const events = agent.events();
  const marker = inbox.ids.make('marker');
  await inbox.queue(ADDRESS, { kind: 'test.marker', message: marker });
  for await (const event of events) if (event.type === 'waiting' && event.message === marker) break;
  events.close();
}

describe('an idle agent', () => {
  it("is woken by a person's message of any level", async () => {
    const { queue, idleAgain, model } = await stage({ info: 'never' });
    await queue({ kind: 'user.message', message: 'are you there?', origin: { person: 'ada' } });
    await idleAgain();
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain('are you there?');
  });

  it("is woken by a person's message that arrives while another turn begins", async () => {
    const { queue, when, agent, inbox, model } = await stage({ info: 'never' });
    const { conversation } = agent;
    const carry = conversation.carry.bind(conversation);
    conversation.carry = async (...args) => {
      const carried = await carry(...args);
      if (model.requests.length === 0) {
        // The carrier of the turn is written, and the watcher has seen the message before the turn's first request.
        await queue({ kind: 'user.message', message: 'are you there?', origin: { person: 'ada' } });
        await looked(agent, inbox);
      }
      return carried;
    };
    await agent.send('go');
    await when('delivered');
    expect(JSON.stringify(model.requests[0]?.prompt)).not.toContain('are you there?');
  });

  it("is not woken by a program's message that pretends to be from the user", async () => {
    const { queue, agent, inbox, model } = await stage({ info: 'never' });
    await queue({ kind: 'user.message', message: 'buy now' });
    await queue({ kind: 'ci.failed', message: 'red', origin: { person: 'ada' } });
    await looked(agent, inbox);
    expect(model.requests).toHaveLength(0);
  });

  it('is woken once, after the window of the subscriber', async () => {
    const { queueFor, when, idleAgain, model, inbox } = await stage({ error: 'auto' });
    const began = inbox.store.now();
    await queueFor(120, { kind: 'tool.failed', level: 'error', message: 'FIRST' });
    await queueFor(120, { kind: 'tool.failed', level: 'error', message: 'SECOND' });
    expect((await when('turn_started')) - began).toBeGreaterThanOrEqual(115);
    await idleAgain();
    expect(model.requests).toHaveLength(1);
    expect(JSON.stringify(model.requests[0]?.prompt)).toMatch(/FIRST.*SECOND/u);
  });

  it("is woken at a notification's delivery time, if its level wakes agents", async () => {
    const { queue, when, idleAgain, inbox, model } = await stage({ warning: 'auto' });
    const began = inbox.store.now();
    await queue({ kind: 'timer.fired', level: 'warning', message: 'tea', deliver: { at: began + 120 } });
    expect((await when('turn_started')) - began).toBeGreaterThanOrEqual(119);
    await idleAgain();
    expect(JSON.stringify(model.requests[0]?.prompt)).toContain('tea');
  });

  it('asks the person at the delivery time, if the level requires the question', async () => {
    const { queue, when, inbox, model } = await stage({ warning: 'ask' });
    const began = inbox.store.now();
    await queue({ kind: 'timer.fired', level: 'warning', message: 'tea', deliver: { at: began + 60 } });
    expect((await when('wake_asked')) - began).toBeGreaterThanOrEqual(59);
    expect(model.requests).toHaveLength(0);
  });

  it('waits for a time that is longer than the longest timer', async () => {
    const warnings: Error[] = [];
    const heard = (warning: Error): void => void warnings.push(warning);
    process.on('warning', heard);
    const { queue, agent, inbox, model } = await stage({ warning: 'auto' });
    const at = inbox.store.now() + 2 ** 36;
    await queue({ kind: 'timer.fired', level: 'warning', message: 'in years', deliver: { at } });
    await looked(agent, inbox);
    await looked(agent, inbox);
    await nextRound();
    process.off('warning', heard);
    expect(model.requests).toHaveLength(0);
    expect(warnings).toEqual([]);
  });
});

it('a woken turn that fails because of the store is reported, and the process goes on', async () => {
  const inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
  const troubles = Promise.withResolvers<unknown>();
  const agent = await createAgent({
    model: scriptedModel([{ text: 'I see' }]),
    earpiece: inbox,
    address: ADDRESS,
    onTrouble: troubles.resolve,
  });
  agent.conversation.carry = () => Promise.reject(new Error('the store is away'));
  await inbox.queue(ADDRESS, { kind: 'user.message', message: 'are you there?', origin: { person: 'ada' } });
  expect(await troubles.promise).toEqual(new Error('the store is away'));
  expect(agent.mode).toBe('idle');
  await agent.close();
  await inbox.close();
});

it('a closed store is read about once a second, and the agent can still be closed', async () => {
  const inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
  let asked = 0;
  const { store } = inbox;
  const changed = store.changed.bind(store);
  // This line ends a loop of settled promises, which would keep this test's timers from running.
  store.changed = (...args) => (++asked > 100 ? new Promise<never>(() => {}) : changed(...args));
  const agent = await createAgent({ model: scriptedModel([]), earpiece: inbox, address: ADDRESS });
  await store.close();
  for (let round = 0; round < 3; round++) await nextRound();
  expect(asked).toBeLessThanOrEqual(3);
  await agent.close().catch(() => {});
});

it('no timer outlives the agent', async () => {
  const before = timers();
  const { queue, agent, inbox } = await stage();
  await queue({ kind: 'timer.fired', message: 'later', deliver: { at: inbox.store.now() + 3_600_000 } });
  await looked(agent, inbox);
  expect(timers()).toBeGreaterThan(before);
  await agent.close();
  expect(timers()).toBeLessThanOrEqual(before);
});
