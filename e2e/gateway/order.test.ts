/**
 * Tests that a client of a gateway never reads an older state of a key after the newer state. The store offers both states in
 * order, but parallel calls can let their texts leave in another order.
 */
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as passing } from 'node:timers/promises';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, test } from 'vitest';

import { logKey, type ConversationId } from '../../src/core/address.ts';
import { DEFAULT_POLICY, type Policy } from '../../src/core/policy.ts';
import { startGateway, type Gateway, type Rider, type Upstream } from '../../src/gateway/index.ts';
import { inboxRider, ownTools } from '../../src/gateway/riding/inbox-rider.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { memoryStore } from '../../src/stores/index.ts';
import { proves } from '../verifies.ts';
import { Stage, textOf, type ToolResult } from '../delivery/stage.ts';
import { HttpProcess } from './servers.ts';

const FIXTURE = join(import.meta.dirname, 'fixture-server.ts');
const TOOL = 'test_simple_text';
const LOG = logKey('shop', 'coder');

const signal = (): { done: Promise<void>; give: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { done: promise, give: resolve };
};

/**
 * A gateway that holds two texts: the first call's text before its offer, until `ask`, and the next text after its offer, until
 * `leave`.
 */
class Scene implements AsyncDisposable {
  readonly inbox: Inbox;
  readonly client = new Client({ name: 'any', version: '1' });
  readonly asked = signal();
  readonly ask = signal();
  readonly made = signal();
  readonly leave = signal();
  #names: readonly string[] = [];
  #results = 0;
  #isHeld = false;
  #outage = false;
  #gateway: Gateway | undefined;
  #version = 0;

  constructor(policy: Partial<Policy> = {}) {
    this.inbox = new Inbox({
      store: memoryStore(),
      policies: { policy: () => ({ ...DEFAULT_POLICY, ...policy }) },
      owner: { machine: 'here', pid: process.pid, startedAt: '1' },
      isAlive: () => true,
      timeZone: 'UTC',
    });
  }

  /** Starts the gateway and calls the tool. A critical notification is queued before the text of this call is made. */
  async callBeforeACritical(): Promise<{ readonly said: Promise<string> }> {
    await this.start([STDIO]);
    const said = this.call(TOOL);
    await this.asked.done;
    await this.queueNext({ level: 'critical' });
    return { said };
  }

  async start(upstreams: readonly Upstream[]): Promise<void> {
    const rider = inboxRider({
      inbox: this.inbox,
      identify: async () => ({ log: LOG, conversation: 'main' as ConversationId, by: 'given' }),
      carrier: 'gateway:test',
      complain: () => {},
      tools: () => ownTools({ tasks: false }),
    });
    const held: Rider = {
      ...rider,
      after: async (connection, result) => {
        if (this.#results++ > 0) return this.#leaving(await rider.after(connection, result));
        this.asked.give();
        await this.ask.done;
        return rider.after(connection, result);
      },
      callTool: async (connection, call) => this.#leaving(await rider.callTool(connection, call)),
      silent: () => false,
      // The time of the gateway's own work does not count as an outage.
      working: () => !this.#outage,
    };
    this.#gateway = await startGateway({ front: { kind: 'http', port: 0 }, upstreams, rider: held, report: () => {} });
    await this.client.connect(new StreamableHTTPClientTransport(new URL(this.#gateway.url!)));
    // Several servers may become ready after the handshake.
    const list = async (): Promise<readonly string[]> =>
      (this.#names = (await this.client.listTools()).tools.map((tool) => tool.name));
    await expect.poll(list).toContainEqual(expect.stringContaining(TOOL));
  }

  async queueNext(more: { readonly level?: 'critical' } = {}): Promise<void> {
    this.#version += 1;
    const state = { message: `state ${this.#version}`, key: 'deploy', supersede: true };
    await this.inbox.queue('shop/coder#main', { ...state, ...more });
  }

  /** The store writes no refusal until `end`. */
  loseRefusals(): { end: () => void } {
    const ended = signal();
    const { store } = this.inbox;
    const append = store.append.bind(store);
    store.append = async (log, drafts) => {
      if (drafts.some(({ type }) => type === 'gate_refused')) await ended.done;
      return append(log, drafts);
    };
    this.#outage = true;
    return { end: ended.give };
  }

  async call(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const shown = this.#names.find((each) => each.endsWith(name));
    return JSON.stringify(await this.client.callTool({ name: shown!, arguments: args }));
  }

  async #leaving<T>(text: T): Promise<T> {
    const first = !this.#isHeld;
    this.#isHeld = true;
    this.made.give();
    if (first) await this.leave.done;
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.ask.give();
    this.leave.give();
    await this.client.close();
    await this.#gateway?.close({ now: true });
  }
}

const STDIO: Upstream = { kind: 'stdio', name: 'wrapped', command: process.execPath, args: [FIXTURE, 'stdio'] };

test.each([
  ['one server over stdio', 'stdio', TOOL],
  ['one server over stdio', 'stdio', 'get_notifications'],
  ['one server over HTTP', 'http', TOOL],
  ['one server over HTTP', 'http', 'get_notifications'],
  ['two servers', 'two', TOOL],
  ['two servers', 'two', 'get_notifications'],
])('%s: an older state does not leave after the newer state (%s, %s)', async (_, servers, second) => {
  proves('gateway:order');
  await using http = servers === 'http' ? await HttpProcess.start([FIXTURE, 'http']) : undefined;
  await using scene = new Scene();
  await scene.start(
    http !== undefined
      ? [{ kind: 'http', name: 'wrapped', url: http.url }]
      : servers === 'two'
        ? [STDIO, { ...STDIO, name: 'other' }]
        : [STDIO],
  );
  await scene.queueNext();
  const first = scene.call(TOOL);
  await scene.asked.done;
  const other = scene.call(second);
  await scene.made.done;
  await scene.queueNext();
  scene.ask.give();
  expect(await first).toContain('state 2');
  scene.leave.give();
  expect(await other).not.toContain('state 1');
  // The released state is closed, so no later answer shows the state.
  expect(await scene.call(TOOL)).not.toContain('state 1');
});

test('the failing result of an unreachable server carries no older state after the newer state', async () => {
  proves('gateway:order');
  await using http = await HttpProcess.start([FIXTURE, 'http']);
  await using scene = new Scene();
  await scene.start([{ kind: 'http', name: 'wrapped', url: http.url }]);
  scene.ask.give();
  await scene.call(TOOL);
  await http[Symbol.asyncDispose]();
  await scene.queueNext();
  const failing = scene.call(TOOL);
  await scene.made.done;
  await scene.queueNext();
  expect(await scene.call('get_notifications')).toContain('state 2');
  scene.leave.give();
  const said = await failing;
  expect(said).toContain('cannot be reached');
  expect(said).not.toContain('state 1');
});

test('a pause withholds a result, although a newer state of another interrupt in its text has left', async () => {
  proves('gateway:order');
  await using scene = new Scene({ interrupt: 'after' });
  const first = await scene.callBeforeACritical();
  await scene.inbox.queue('shop/coder#main', { message: 'hold on', action: 'pause', origin: { person: 'Ann' } });
  const withheld = scene.call(TOOL);
  await scene.made.done;
  await scene.queueNext({ level: 'critical' });
  expect(await scene.call('get_notifications')).toContain('hold on');
  scene.leave.give();
  scene.ask.give();
  expect(await withheld).not.toContain('simple text response');
  await first.said;
});

test('get_notifications answers while another text is held, although a newer state that has left was withdrawn', async () => {
  proves('gateway:order');
  await using scene = new Scene({ interrupt: 'after' });
  const first = await scene.callBeforeACritical();
  const held = scene.call(TOOL);
  await scene.made.done;
  await scene.queueNext();
  expect(await scene.call('get_notifications', { mark_as_read: false })).toContain('state 2');
  const items = await scene.inbox.store.items(LOG, { kind: 'latest', limit: 10 });
  const second = items.find(({ notification }) => notification.message === 'state 2');
  await scene.inbox.withdraw(LOG, { id: second?.id ?? '' }, { by: 'ann', reason: 'wrong' });
  expect(await scene.call('get_notifications', { mark_as_read: false })).toContain('state 1');
  scene.leave.give();
  scene.ask.give();
  await Promise.all([first.said, held]);
});

test('no older state leaves after a refusal with the newer state that the gateway remembers because the store does not answer', async () => {
  proves('gateway:order', 'gate:early');
  await using scene = new Scene();
  await scene.start([STDIO]);
  scene.ask.give();
  await scene.call(TOOL);
  await scene.queueNext();
  const held = scene.call('get_notifications');
  await scene.made.done;
  await scene.queueNext({ level: 'critical' });
  const lost = scene.loseRefusals();
  expect(await scene.call(TOOL)).toContain('state 2');
  scene.leave.give();
  // The answer leaves, or is made again, before the store answers. An answer that is made again waits for the store.
  await nextTurn();
  lost.end();
  expect(await held).not.toContain('state 1');
});

test('get_notifications without marks shows no older state after the newer state', async () => {
  proves('gateway:order');
  await using scene = new Scene();
  await scene.start([STDIO]);
  scene.ask.give();
  await scene.queueNext();
  const peeked = scene.call('get_notifications', { mark_as_read: false });
  await scene.made.done;
  await scene.queueNext();
  expect(await scene.call(TOOL)).toContain('state 2');
  scene.leave.give();
  expect(await peeked).not.toContain('state 1');
});

test('get_notifications does not wait for the text of another call', async () => {
  proves('gateway:order');
  await using scene = new Scene();
  await scene.start([STDIO]);
  scene.leave.give();
  await scene.queueNext();
  const first = scene.call(TOOL);
  await scene.asked.done;
  expect(await scene.call('get_notifications')).toContain('state 1');
  await scene.queueNext();
  scene.ask.give();
  expect(await first).toContain('state 2');
});

test('a gateway process sends the states of a key in order, although a producer queues them during parallel calls', async () => {
  proves('gateway:order');
  await using stage = new Stage();
  const ear = await stage.open();
  const gateway = await stage.gateway();
  const told: number[] = [];
  let version = 0;
  const queue = (to: string): Promise<unknown> =>
    ear.queue(to, { message: `state ${(version += 1)}.`, key: 'deploy', supersede: true });
  const call = async (name: string, args: object): Promise<void> => {
    const text = textOf((await gateway.call(name, args)) satisfies ToolResult);
    for (const [, state] of text.matchAll(/state (\d+)\./gu)) told.push(Number(state));
  };
  for (let round = 0; round < 60; round++) {
    await queue('shop/coder#main');
    const pulled = call('get_notifications', {});
    const queued = passing(round % 4).then(() => queue(round % 2 === 0 ? 'shop/coder#main' : 'shop/coder'));
    await passing(round % 5);
    await Promise.all([pulled, queued, call('echo', { text: 'x' })]);
  }
  expect(told.length).toBeGreaterThan(30);
  expect(told).toEqual(told.toSorted((a, b) => a - b));
});
