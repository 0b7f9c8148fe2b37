/** Tests the events of an agent, with emitters that only collect, hang, or fail. */
import { afterEach, describe, expect, it } from 'vitest';
import { least } from '../../e2e/least.ts';
import { proves } from '../../e2e/verifies.ts';
import { defined } from '../core/defined.ts';
import { makeEvent, type Emitted, type Emitter, type EventInput } from '../core/event.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import { Inbox } from '../inbox/index.ts';
import type { Tool } from '../handles/tool.ts';
import { memoryStore } from '../stores/index.ts';
import { createAgent, type Agent } from './agent.ts';
import type { AgentOptions } from './options.ts';
import { scriptedModel, type Step } from './scripted-model.ts';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const told = (event: EventInput): Emitted => ({ event: makeEvent(event, { id: 'e', now: 0 }), heard: [] });

async function start(steps: readonly Step[], options: Partial<AgentOptions> & { emit?: Emitter['emit'] } = {}) {
  const { emit = async (event) => told(event), ...more } = options;
  const emitted: EventInput[] = [];
  const troubles: unknown[] = [];
  const inbox = new Inbox({
    store: memoryStore(),
    policies: { policy: () => ({ ...DEFAULT_POLICY, coalesceMs: {} }) },
    timeZone: 'UTC',
  });
  const model = scriptedModel(steps);
  const emitter: Emitter = {
    emit: (event) => {
      emitted.push(event);
      return emit(event);
    },
  };
  const open = async (): Promise<Agent> => {
    const agent = await createAgent({
      model,
      earpiece: inbox,
      address: 'shop/coder#a',
      emitter,
      onTrouble: (error) => void troubles.push(error),
      ...more,
    });
    cleanups.push(() => agent.close());
    return agent;
  };
  cleanups.push(() => inbox.close());
  const agent = await open();
  return { agent, inbox, model, emitted, troubles, open, types: () => emitted.map(({ type }) => type) };
}

const tool = (name: string, execute: Tool['execute'], more: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  execute,
  ...more,
});
const never = (): Promise<never> => new Promise(() => {});
const batchOf = (...names: readonly string[]): Step => ({ calls: names.map((name, i) => ({ id: `c${i}`, name })) });
const DONE: Step = { text: 'done' };
const OUTCOMES = ['tool.call.success', 'tool.call.failure', 'tool.call.timeout'];

describe('4.12.5: a call ends as exactly one of success, failure and timeout', () => {
  proves('sources:failures');

  it.each<[string, Tool | undefined, string, object, Partial<Step>?]>([
    ['answers', tool('t', async () => ({ content: 'abc' })), 'success', { result_length: 3 }],
    ['throws', tool('t', () => Promise.reject(new Error('no'))), 'failure', { error_type: 'error', error_message: 'no' }],
    [
      'throws an error of another class at once',
      tool('t', () => {
        throw new TypeError('no');
      }),
      'failure',
      { error_type: 'TypeError' },
    ],
    ['throws a text', tool('t', () => Promise.reject('no')), 'failure', { error_message: 'no' }],
    ['reports a failure', tool('t', async () => ({ content: 'no', isError: true })), 'failure', { error_type: 'tool_error' }],
    [
      'fails with an empty result',
      tool('t', async () => ({ content: '', isError: true })),
      'failure',
      { error_message: 'Failed, without a reason.' },
    ],
    ['does not exist', undefined, 'failure', { error_type: 'unknown_tool' }],
    [
      'is called with invalid JSON',
      tool('t', async () => ({ content: '' })),
      'failure',
      { error_type: 'bad_arguments' },
      { calls: [{ id: 'c0', name: 't', args: '{"a":' }] },
    ],
    ['takes too long', tool('t', never, { timeoutMs: 20 }), 'timeout', { timeout_ms: 20, error_type: 'timeout' }],
    [
      'takes too long, and throws the timeout itself',
      tool(
        't',
        (_args, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        {
          timeoutMs: 20,
        },
      ),
      'timeout',
      { timeout_ms: 20 },
    ],
    [
      'takes too long, and then ends with an error',
      tool(
        't',
        (_args, { signal }) =>
          new Promise((resolve) => signal.addEventListener('abort', () => resolve({ content: 'half', isError: true }))),
        { timeoutMs: 20 },
      ),
      'timeout',
      { timeout_ms: 20 },
    ],
    [
      'takes too long, but returns a result after the abort',
      tool(
        't',
        (_args, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve({ content: 'all' }))),
        {
          timeoutMs: 20,
        },
      ),
      'success',
      { result_length: 3 },
    ],
    [
      'throws a timeout',
      tool('t', () => Promise.reject(new DOMException('The operation timed out', 'TimeoutError'))),
      'timeout',
      { error_message: 'The operation timed out' },
    ],
    [
      'reports a timeout',
      tool('t', async () => ({ content: 'no', isError: true, failure: { type: 'timeout', timeoutMs: 30_000 } })),
      'timeout',
      { timeout_ms: 30_000 },
    ],
  ])('a tool that %s ends with the outcome %3$s', async (_what, given, outcome, data, step = batchOf('t')) => {
    const { agent, emitted } = await start([step, DONE], { tools: given === undefined ? [] : [given] });
    await agent.send('go');
    const outcomes = emitted.filter(({ type }) => OUTCOMES.includes(type));
    expect(outcomes).toMatchObject([{ type: `tool.call.${outcome}`, data: { tool_name: 't', call_id: 'c0', ...data } }]);
    expect(outcomes[0]).toMatchObject({
      source: 'agent',
      subject: 'shop/coder#a',
      origin: { agent: 'shop/coder', tool: 't', depth: 0 },
    });
    expect(emitted.find(({ type }) => type === 'tool.batch.complete')?.data).toMatchObject({
      tool_count: 1,
      failure_count: outcome === 'success' ? 0 : 1,
    });
  });

  it('an interrupted call is neither a success, a failure nor a timeout', async () => {
    const started = Promise.withResolvers<void>();
    const { agent, types } = await start([batchOf('t'), DONE], {
      tools: [
        tool('t', () => {
          started.resolve();
          return never();
        }),
      ],
    });
    const turn = agent.send('go');
    await started.promise;
    agent.stop();
    expect(await turn).toMatchObject({ how: 'stopped' });
    expect(types().filter((type) => OUTCOMES.includes(type))).toEqual([]);
    expect(types()).toContain('tool.call.pending');
  });
});

describe('the emitter', () => {
  const fails = tool('t', () => Promise.reject(new Error('no')));

  it('the carrier waits for the emitter, so the notification is delivered with the same batch', async () => {
    const gate: { inbox?: Inbox } = {};
    const { agent, inbox, model } = await start([batchOf('t'), DONE], {
      tools: [fails],
      emit: async (event) => {
        if (event.type === 'tool.call.failure') {
          await new Promise((resolve) => setTimeout(resolve, 60));
          await gate.inbox?.queue('shop/coder#a', { kind: 'tool.call.failure', level: 'error', message: 'LATE-BUT-IN-TIME' });
        }
        return told(event);
      },
    });
    gate.inbox = inbox;
    await agent.send('go');
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('LATE-BUT-IN-TIME');
  });

  it('an emitter that hangs delays the agent once, by 250 ms', async () => {
    const sent = async (): Promise<number> => {
      const { agent, model } = await start([batchOf('t'), batchOf('t'), batchOf('t'), DONE], { tools: [fails], emit: never });
      const began = performance.now();
      expect(await agent.send('go')).toMatchObject({ how: 'complete', cycles: 4 });
      expect(model.requests).toHaveLength(4);
      return performance.now() - began;
    };
    // Three waits of 250 ms would take longer.
    expect(await least(700, sent)).toBeLessThan(700);
  });

  it.each<[string, Emitter['emit']]>([
    ['rejects', () => Promise.reject(new Error('bus down'))],
    [
      'throws',
      () => {
        throw new Error('bus down');
      },
    ],
  ])('the agent does not fail when its emitter %s', async (_how, emit) => {
    const { agent, troubles } = await start([batchOf('t'), DONE], { tools: [fails], emit });
    expect(await agent.send('go')).toMatchObject({ how: 'complete' });
    expect(troubles).toContainEqual(new Error('bus down'));
  });

  it('FR-004: the emitter gets events about queries, turns and the session', async () => {
    const { agent, emitted, types, open } = await start([batchOf('t', 't'), DONE], {
      tools: [tool('t', async () => ({ content: 'x' }))],
    });
    await agent.send('What is new?');
    await agent.close();
    expect(types()).toEqual([
      'query.start',
      'agent.turn.start',
      'tool.call.pending',
      'tool.call.pending',
      'tool.call.success',
      'tool.call.success',
      'tool.batch.complete',
      'agent.turn.end',
      'session.end',
    ]);
    const data = (type: string): unknown => emitted.find((event) => event.type === type)?.data;
    expect(data('query.start')).toMatchObject({ query: 'What is new?', by: 'person' });
    expect(data('agent.turn.end')).toMatchObject({
      turn_number: 1,
      reason: 'complete',
      cycles: 2,
      tool_calls: 2,
      tokens_used: 30,
    });
    emitted.length = 0;
    const again = await open();
    expect(emitted).toMatchObject([
      { type: 'session.resumed', data: { last_question: 'What is new?', nodes_loaded: again.records.length } },
    ]);
    await again.send('go on');
    expect(data('agent.turn.start')).toMatchObject({ turn_number: 2 });
  });

  it('the default emitter is the bus of the inbox', async () => {
    const emitted: string[] = [];
    const inbox = Object.assign(new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY } }), {
      bus: { emit: async (event: EventInput) => (emitted.push(event.type), told(event)) },
    });
    const agent = await createAgent({ model: scriptedModel([DONE]), earpiece: inbox, address: 'shop/coder#a' });
    await agent.send('go');
    await agent.close();
    await inbox.close();
    expect(emitted).toContain('query.start');
  });
});

describe('another setup', () => {
  it('the event about a changed setup is withdrawn if the old setup returns before a turn', async () => {
    const { agent, inbox, emitted } = await start([DONE], {});
    await agent.send('go');
    await agent.close();
    const other = await createAgent({
      model: scriptedModel([DONE]),
      earpiece: inbox,
      address: 'shop/coder#a',
      tools: [tool('new', never)],
      emitter: {
        emit: async (event) => {
          const { type, key, message = '' } = event;
          emitted.push(event);
          if (type === 'config.tools_changed')
            await inbox.queue('shop/coder#a', { kind: type, message, supersede: true, ...defined({ key }) });
          return told(event);
        },
      },
    });
    await other.close();
    expect((await inbox.open('shop/coder')).map(({ notification }) => notification.message)).toEqual([
      'The tools have changed since the last turn: `new` is new',
    ]);
    const again = await createAgent({
      model: scriptedModel([DONE]),
      earpiece: inbox,
      address: 'shop/coder#a',
      emitter: { emit: async (event) => told(event) },
    });
    expect(await inbox.open('shop/coder')).toEqual([]);
    await again.close();
  });
});
