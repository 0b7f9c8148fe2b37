import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Notification, NotificationId } from '../core/notification.ts';
import { DEFAULT_POLICY, type Policy } from '../core/policy.ts';
import type { Draft } from '../core/records.ts';
import { Inbox } from '../inbox/index.ts';
import { memoryStore } from '../stores/index.ts';
import type { Tool } from '../handles/tool.ts';
import { Agent, createAgent } from './agent.ts';
import type { AgentOptions } from './options.ts';
import type { Inquiry } from '../handles/index.ts';
import type { AgentEvent } from './events.ts';
import { askInquiries } from './inquiries.ts';
import { proves } from '../../e2e/verifies.ts';
import { scriptedModel, type ScriptedModel, type Step } from './scripted-model.ts';

const echo: Tool = {
  name: 'echo',
  description: 'echo',
  inputSchema: { type: 'object' },
  execute: async (args) => ({ content: `echo ${JSON.stringify(args)}` }),
};

const CRITICAL: Omit<Notification, 'id'> = { kind: { source: 'alarm', name: 'fire' }, level: 'critical', message: 'fire' };

describe('the loop', () => {
  let inbox: Inbox;
  let policy: Policy;
  const agents: Agent[] = [];

  beforeEach(() => {
    policy = { ...DEFAULT_POLICY, coalesceMs: {} };
    inbox = new Inbox({ store: memoryStore(), policies: { policy: () => policy }, timeZone: 'UTC' });
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.close();
    await inbox.close();
  });

  const start = async (
    steps: readonly Step[],
    options: Partial<AgentOptions> = {},
    provider?: string,
  ): Promise<{ agent: Agent; model: ScriptedModel; events: AgentEvent[] }> => {
    const model = scriptedModel(steps, provider);
    const agent = await createAgent({
      model,
      earpiece: inbox,
      address: 'shop/coder',
      tools: [echo],
      chance: () => 0,
      ...options,
    });
    agents.push(agent);
    const events: AgentEvent[] = [];
    void (async () => {
      for await (const event of agent.events()) events.push(event);
    })();
    return { agent, model, events };
  };
  const queue = (message: string, more: object = {}): Promise<unknown> =>
    inbox.queue('shop/coder#main', { message, kind: 'ci.failed', ...more });
  const types = (agent: Agent): string[] =>
    agent.records.filter((r) => !/^(carrier|notification|system_|agent_|gate|config_)/.test(r.type)).map((r) => r.type);
  const carriers = (agent: Agent): Draft[] => agent.records.filter((r) => 'notifications' in r);
  const until = async (ready: () => boolean): Promise<void> => {
    for (let i = 0; i < 2_000 && !ready(); i++) await new Promise((resolve) => setTimeout(resolve, 1));
    expect(ready()).toBe(true);
  };
  /** Resolves when the agent has checked all queued notifications, and each turn that it began for them has ended. */
  const settled = async (agent: Agent, events: readonly AgentEvent[]): Promise<void> => {
    const over = (): boolean =>
      agent.mode === 'idle' &&
      events.filter(({ type }) => type === 'turn_started').length === events.filter(({ type }) => type === 'turn_ended').length;
    await until(over);
    // The check that shows the first marker may have begun before this call. The second marker proves that a later check has run.
    for (const message of ['first marker', 'second marker']) {
      await inbox.queue(agent.address, { kind: 'test.marker', message });
      await until(() => events.some((event) => event.type === 'waiting' && event.message === message));
    }
    await until(over);
  };

  it('answers, runs tools in parallel, and answers again', async () => {
    const { agent, model, events } = await start([
      {
        text: 'let me see ',
        calls: [
          { id: 'a', name: 'echo', args: { n: 1 } },
          { id: 'b', name: 'echo' },
        ],
      },
      { text: 'done' },
    ]);
    expect(await agent.send('hello')).toMatchObject({ how: 'complete', text: 'done', cycles: 2 });
    expect(types(agent)).toEqual([
      'turn_start',
      'chat_request',
      'chat_response',
      'tool_call_request',
      'tool_call_request',
      'tool_call_response',
      'tool_call_response',
      'chat_response',
    ]);
    expect(model.requests[1]?.prompt.map((m) => m.role)).toEqual(['user', 'assistant', 'tool']);
    await until(() => events.some((e) => e.type === 'mode' && e.mode === 'idle'));
    expect(events.flatMap((e) => (e.type === 'mode' ? [e.mode] : []))).toEqual([
      'streaming',
      'executing',
      'continuing',
      'streaming',
      'continuing',
      'complete',
      'idle',
    ]);
  });

  it.each(['openai.chat', 'anthropic.messages', 'google.generative-ai', 'ollama.chat'])(
    'with %s: each request begins with the exact bytes of the request before',
    async (provider) => {
      const { agent, model } = await start(
        [
          {
            reasoning: { text: 'hm ', signature: 'sig' },
            text: 'one',
            calls: [{ id: 'a', name: 'echo' }],
            before: () => queue('x').then(() => undefined),
          },
          {
            calls: [
              { id: 'b', name: 'echo' },
              { id: 'c', name: 'nope' },
            ],
            before: () => queue('y', { level: 'error' }).then(() => undefined),
          },
          { text: 'done' },
          { text: 'and again' },
        ],
        { system: 'be brief' },
        provider,
      );
      await queue('early');
      await agent.send('go');
      await queue('late');
      await agent.send('more');
      for (let i = 1; i < model.requests.length; i++)
        expect(extends_(model.requests[i - 1]?.prompt ?? [], model.requests[i]?.prompt ?? [])).toBe(true);
      const whole = JSON.stringify(model.requests.at(-1)?.prompt);
      for (const word of ['early', 'x', 'y', 'late'])
        expect(whole.split(`error: ${word}`).length + whole.split(`info: ${word}`).length - 2).toBe(1);
    },
  );

  it('the prefix check of these tests detects one changed byte', () => {
    const a: LanguageModelV4Prompt = [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }];
    const b: LanguageModelV4Prompt = [
      { role: 'user', content: [{ type: 'text', text: 'hellO' }] },
      { role: 'assistant', content: [] },
    ];
    expect(extends_(a, b)).toBe(false);
  });

  it('only the last result of a batch carries notifications, even if its call fails', async () => {
    const gate = Promise.withResolvers<void>();
    const slow: Tool = { ...echo, name: 'slow', execute: async () => (await gate.promise, { content: 'slow', isError: true }) };
    const { agent } = await start(
      [
        {
          calls: [
            { id: 'a', name: 'slow' },
            { id: 'b', name: 'echo' },
          ],
        },
        { text: 'done' },
      ],
      { tools: [slow, echo] },
    );
    const turn = agent.send('go');
    await until(() => types(agent).includes('tool_call_response'));
    await queue('x', { id: 'n1' });
    gate.resolve();
    await turn;
    expect(carriers(agent)).toMatchObject([
      { type: 'tool_call_response', id: 'a', is_error: true, notifications: [{ id: 'n1' }] },
    ]);
  });

  it('a notification about a fact that a tool has shown is not delivered, even in the same batch', async () => {
    const fetcher: Tool = { ...echo, name: 'fetch', execute: async () => ({ content: 'ended', knows: ['handle:build'] }) };
    const { agent } = await start([{ calls: [{ id: 'a', name: 'fetch' }] }, { text: 'ok' }], { tools: [fetcher] });
    await inbox.queue('shop/coder#main', { message: 'build ended', about: 'handle:build', id: 'n1', deliver: 'after_tool' });
    await agent.send('go');
    expect(carriers(agent)).toEqual([]);
    expect((await inbox.why('n1'))?.items[0]?.receipt).toBe('known');
  });

  it('a critical notification aborts a streaming answer; the next request has the kept part and the notification', async () => {
    const { agent, model } = await start([
      {
        text: 'I am going to delete everything now',
        between: async (n, aborted) => {
          if (n === 2) await queue('stop that', { level: 'critical', id: 'n1' });
          if (n > 2) await aborted;
        },
      },
      { text: 'stopped' },
    ]);
    expect(await agent.send('go')).toMatchObject({ how: 'complete', text: 'stopped', cycles: 2 });
    expect(model.aborted).toEqual([0]);
    expect(agent.records.filter((r) => 'truncated' in r)).toHaveLength(1);
    expect(carriers(agent)).toMatchObject([
      { type: 'chat_request', source: 'system', notifications: [{ id: 'n1', level: 'critical' }] },
    ]);
    const prompt = JSON.stringify(model.requests[1]?.prompt);
    expect(prompt).toContain('I am ');
    expect(prompt).toContain('stop that');
    expect(await agent.conversation.gate()).toEqual([]);
  });

  it('an answer that is aborted before its first token leaves no empty assistant message', async () => {
    const { agent, model } = await start([
      {
        text: 'never',
        before: async ({ abortSignal }) => {
          const aborted = once(abortSignal as AbortSignal, 'abort');
          await queue('stop', { level: 'critical' });
          await aborted;
        },
      },
      { text: 'ok' },
    ]);
    await agent.send('go');
    expect(model.requests[1]?.prompt.map((m) => m.role)).toEqual(['user', 'user', 'system']);
  });

  it('if an answer is aborted in its second call, the first call is kept and answered, and the second call is dropped', async () => {
    const { agent, model } = await start([
      {
        text: 'x',
        calls: [
          { id: 'a', name: 'echo' },
          { id: 'b', name: 'echo', args: { long: 'text' } },
        ],
        between: async (n, aborted) => {
          if (n === 9) await queue('stop', { level: 'critical' });
          if (n > 9) await aborted;
        },
      },
      { text: 'ok' },
    ]);
    await agent.send('go');
    const calls = agent.records.flatMap((r) =>
      r.type === 'tool_call_request' || r.type === 'tool_call_response' ? [`${r.type} ${(r as { id: string }).id}`] : [],
    );
    expect(calls).toEqual(['tool_call_request a', 'tool_call_response a']);
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('Not run: interrupted.');
  });

  it('reasoning that an abort leaves without its signature is dropped', async () => {
    const slowAfter =
      (after: number) =>
      async (n: number, aborted: Promise<void>): Promise<void> => {
        if (n === after) await queue('stop', { level: 'critical' });
        if (n >= after) await aborted;
      };
    const unsigned = await start(
      [{ reasoning: { text: 'a b c d', signature: 's' }, text: 'hello', between: slowAfter(2) }, { text: 'ok' }],
      {},
      'anthropic.messages',
    );
    await unsigned.agent.send('go');
    expect(JSON.stringify(unsigned.model.requests[1]?.prompt)).not.toContain('reasoning');
  });

  it('between turns, a critical notification starts one new turn', async () => {
    const { agent, model, events } = await start([{ text: 'hi' }, { text: 'on it' }]);
    await agent.send('hello');
    await queue('disk full', { level: 'critical', id: 'n1' });
    await until(() => events.filter((e) => e.type === 'turn_ended').length === 2);
    expect(model.requests).toHaveLength(2);
    expect(carriers(agent)).toMatchObject([{ source: 'system', notifications: [{ id: 'n1' }] }]);
    expect(agent.records.some((r) => r.type === 'agent_woken')).toBe(true);
  });

  it('with wake = never the notification waits, with ask the agent asks the person, with auto the agent wakes', async () => {
    policy = { ...policy, wake: { info: 'never', warning: 'ask', error: 'auto', critical: 'auto' } };
    const { agent, model, events } = await start([{ text: 'woken' }]);
    await queue('i', { level: 'info' });
    await queue('w', { level: 'warning', id: 'w1' });
    await until(() => events.some((e) => e.type === 'wake_asked'));
    expect(model.requests).toHaveLength(0);
    await queue('e', { level: 'error' });
    await until(() => events.some((e) => e.type === 'turn_ended'));
    expect(model.requests).toHaveLength(1);
    expect(carriers(agent)).toMatchObject([
      { source: 'system', notifications: [{ level: 'error' }, { level: 'warning' }, { message: 'i' }] },
    ]);
  });

  it('notifications at or above level error that arrive during the last answer add at most three cycles', async () => {
    let n = 0;
    const { agent, model } = await start([
      {
        text: 'answer',
        between: (i) => (i === 0 ? queue(`flap ${n++}`, { level: 'error', id: `n${n}` }).then(() => undefined) : undefined),
      },
    ]);
    expect(await agent.send('go')).toMatchObject({ how: 'complete', cycles: 4 });
    expect(model.requests).toHaveLength(4);
    expect((await inbox.open('shop/coder')).length).toBe(1);
  });

  it('an info notification that arrives during the last answer waits for the next turn', async () => {
    const { agent, model } = await start([
      { text: 'answer', between: (i) => (i === 0 ? queue('later', { id: 'n1' }).then(() => undefined) : undefined) },
      { text: 'ok' },
    ]);
    expect((await agent.send('go')).cycles).toBe(1);
    await agent.send('next');
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('later');
  });

  it('the turn ends even if a critical notification follows each part of four answers', async () => {
    let n = 0;
    const { agent } = await start(
      Array.from({ length: 30 }, (_, i) =>
        i < 4
          ? {
              text: 'working on it',
              calls: [{ id: `c${i}`, name: 'echo' }],
              between: () => queue(`alarm ${n}`, { level: 'critical', id: `a${n++}` }).then(() => undefined),
            }
          : { text: 'done' },
      ),
    );
    const result = await agent.send('go');
    expect(result.how).toBe('complete');
    await agent.close();
    const delivered = agent.records.flatMap((r) =>
      'notifications' in r ? (r.notifications as { id: string }[]).map((x) => x.id) : [],
    );
    expect(delivered.length).toBeGreaterThan(0);
    expect(new Set(delivered).size).toBe(delivered.length);
  });

  it('a cancel ends the running tools, and its message is delivered with their results', async () => {
    const started = Promise.withResolvers<void>();
    let ended = false;
    const long: Tool = {
      ...echo,
      name: 'long',
      execute: (_args, { signal }) =>
        new Promise((resolve) => {
          started.resolve();
          signal.addEventListener('abort', () => {
            ended = true;
            resolve({ content: 'ended early', isError: true });
          });
        }),
    };
    const { agent, model } = await start([{ calls: [{ id: 'a', name: 'long' }] }, { text: 'ok' }], { tools: [long] });
    const turn = agent.send('go');
    await started.promise;
    await queue('not that', { action: 'cancel', id: 'n1' });
    expect(await turn).toMatchObject({ how: 'complete' });
    expect(ended).toBe(true);
    expect(carriers(agent)).toMatchObject([{ type: 'tool_call_response', id: 'a', notifications: [{ id: 'n1' }] }]);
    expect(model.requests).toHaveLength(2);
  });

  it('a critical notification that arrives while tools run waits for their results', async () => {
    using forced = vi.spyOn(Agent.prototype, 'force');
    const { agent } = await start([{ calls: [{ id: 'a', name: 'slow' }] }, { text: 'ok' }], {
      tools: [
        {
          ...echo,
          name: 'slow',
          execute: async () => {
            await queue('c', { level: 'critical', id: 'n1' });
            await until(() => forced.mock.calls.length > 0);
            return { content: 'whole' };
          },
        },
      ],
    });
    await agent.send('go');
    expect(carriers(agent)).toMatchObject([
      { type: 'tool_call_response', content: 'whole', is_error: false, notifications: [{ id: 'n1' }] },
    ]);
  });

  it('a stop ends the turn and returns open notifications, which do not wake the agent and are delivered in the next turn', async () => {
    policy = { ...policy, wake: { ...policy.wake, error: 'auto' } };
    const { agent, model, events } = await start([
      {
        text: 'a b c d e f',
        between: async (n, aborted) => {
          if (n === 1) await queue('wait', { level: 'error', id: 'n1' });
          if (n === 2) agent.stop();
          if (n > 1) await aborted;
        },
      },
      { text: 'ok' },
    ]);
    expect(await agent.send('go')).toMatchObject({ how: 'stopped', handedBack: ['n1'] });
    await settled(agent, events);
    expect(model.requests).toHaveLength(1);
    await agent.send('go on');
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('wait');
  });

  it('if the signal is already aborted, nothing is written, requested or run', async () => {
    proves('agent:stop');
    const { agent, model } = await start([{ text: 'never' }]);
    await queue('x', { id: 'n1' });
    const before = agent.records.length;
    const signal = AbortSignal.abort();
    expect(await agent.send('go', { signal })).toEqual({ how: 'stopped', text: '', cycles: 0, handedBack: ['n1'] });
    expect(model.requests).toEqual([]);
    expect(agent.records).toHaveLength(before);
    await agent.conversation.record([{ type: 'turn_start' }, { type: 'chat_request', content: 'cut off' }]);
    await agent.close();
    const again = await start([{ text: 'never' }]);
    expect(await again.agent.resume({ signal })).toMatchObject({ how: 'stopped', cycles: 0 });
    expect(again.model.requests).toEqual([]);
  });

  it.each(['reply', 'critical'] as const)('a stop right after a %s ends the turn', async (first) => {
    proves('agent:stop');
    const { agent, model } = await start([
      {
        text: 'one two three',
        between: async (n) => {
          if (n !== 1) return;
          if (first === 'reply') agent.reply('not that');
          else {
            const { id } = (await queue('fire', { deliver: { afterTurns: 9 } })) as { id: NotificationId };
            expect(agent.force({ notification: { ...CRITICAL, id } })).toBe(true);
          }
          agent.stop();
        },
      },
      { text: 'never' },
    ]);
    expect(await agent.send('go')).toMatchObject({ how: 'stopped' });
    expect(model.requests).toHaveLength(1);
  });

  it('a reply joins the running turn, with the due notifications', async () => {
    const { agent, model } = await start([
      {
        text: 'a b c d e f',
        between: async (n, aborted) => {
          if (n === 2) {
            await queue('note', { id: 'n1' });
            agent.reply('no, the other one');
          }
          if (n > 2) await aborted;
        },
      },
      { text: 'right' },
    ]);
    expect(await agent.send('go')).toMatchObject({ how: 'complete', text: 'right' });
    expect(types(agent)).toEqual(['turn_start', 'chat_request', 'chat_response', 'chat_request', 'chat_response']);
    expect(carriers(agent)).toMatchObject([{ content: 'no, the other one', notifications: [{ id: 'n1' }] }]);
    expect(model.requests).toHaveLength(2);
  });

  it('a reply at the end of a turn joins the turn', async () => {
    const { agent, model } = await start([{ text: 'done' }, { text: 'right' }], {
      onTurnEnd: async ({ signal }) => {
        if (model.requests.length > 1) return;
        agent.reply('no, the other one');
        expect(signal.aborted).toBe(true);
      },
    });
    expect(await agent.send('go')).toMatchObject({ how: 'complete', text: 'right', cycles: 2 });
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('no, the other one');
  });

  it.each(['reply', 'critical'] as const)('a reply right after a %s joins the turn too', async (first) => {
    const { agent, model } = await start([
      {
        text: 'one two three',
        between: async (n) => {
          if (n !== 1) return;
          if (first === 'reply') agent.reply('not that');
          else {
            const { id } = (await queue('fire', { deliver: { afterTurns: 9 } })) as { id: NotificationId };
            expect(agent.force({ notification: { ...CRITICAL, id } })).toBe(true);
          }
          agent.reply('the other one');
        },
      },
      { text: 'right' },
    ]);
    expect(await agent.send('go')).toMatchObject({ how: 'complete', text: 'right' });
    const prompt = JSON.stringify(model.requests[1]?.prompt);
    for (const text of [...(first === 'reply' ? ['not that'] : []), 'the other one']) expect(prompt).toContain(text);
  });

  it('a paused agent does not wake until it is resumed', async () => {
    const { agent, model, events } = await start([{ text: 'hello' }, { text: 'going on' }]);
    await queue('wait for me', { action: 'pause', id: 'p' });
    await agent.send('hi');
    expect(await agent.paused()).toBe(true);
    await queue('fire', { level: 'critical', id: 'c' });
    await settled(agent, events);
    expect(model.requests).toHaveLength(1);
    await queue('go on', { action: 'resume', id: 'r' });
    await until(() => events.filter((e) => e.type === 'turn_ended').length === 2);
    expect(await agent.paused()).toBe(false);
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('fire');
  });

  it('two agents that wake each other stop at the maximum depth', async () => {
    policy = { ...policy, wake: { ...policy.wake, error: 'auto' } };
    let hops = 0;
    const teller = (get: () => Agent, to: string): Tool => ({
      ...echo,
      name: 'tell',
      execute: async () => (
        await inbox.queue(to, { kind: 'agent.told', level: 'error', message: `hop ${hops++}`, origin: get().origin() }),
        { content: 'told' }
      ),
    });
    const script = (): Step[] =>
      Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? { calls: [{ id: `t${i}`, name: 'tell' }] } : { text: 'ok' }));
    const a = await start(script(), { address: 'shop/a', tools: [teller(() => a.agent, 'shop/b')] });
    const b = await start(script(), { address: 'shop/b', tools: [teller(() => b.agent, 'shop/a')] });
    await a.agent.send('begin');
    await until(() => hops === 5);
    for (const { agent, events } of [a, b]) await settled(agent, events);
    expect(hops).toBe(5);
  });

  it('a notification does not wake the agent that caused it', async () => {
    policy = { ...policy, wake: { ...policy.wake, error: 'auto' } };
    const { agent, model, events } = await start([{ text: 'x' }]);
    await queue('mine', { level: 'error', origin: agent.origin() });
    await settled(agent, events);
    expect(model.requests).toHaveLength(0);
  });

  it('temporary failures are retried, and permanent failures are not', async () => {
    const overloaded = Object.assign(new Error('overloaded'), { statusCode: 529, responseHeaders: { 'retry-after-ms': '1' } });
    const fine = await start([{ error: overloaded }, { error: overloaded }, { text: 'ok' }]);
    expect(await fine.agent.send('go')).toMatchObject({ how: 'complete', text: 'ok' });
    expect(fine.events.filter((e) => e.type === 'retry')).toHaveLength(2);
    const key = await start([{ error: Object.assign(new Error('invalid key'), { statusCode: 401 }) }], { address: 'shop/other' });
    expect(await key.agent.send('go')).toMatchObject({ how: 'failed', error: '401: invalid key' });
    expect(key.model.requests).toHaveLength(1);
    const quota = await start([{ error: Object.assign(new Error('insufficient_quota'), { statusCode: 429 }) }], {
      address: 'shop/third',
    });
    expect(await quota.agent.send('go')).toMatchObject({ how: 'failed' });
    expect(quota.model.requests).toHaveLength(1);
  });

  it('the turn fails if the provider asks for a retry in an hour; a person can stop a shorter wait', async () => {
    proves('agent:endings', 'agent:stop');
    const wait = (seconds: string): Step => ({
      error: Object.assign(new Error('slow down'), { statusCode: 429, responseHeaders: { 'retry-after': seconds } }),
    });
    const hour = await start([wait('3600'), { text: 'never' }]);
    expect(await hour.agent.send('go')).toMatchObject({
      how: 'failed',
      error: '429: slow down; the provider asks for a retry after 60 min, but the agent waits at most 60 s',
    });
    const minute = await start([wait('50'), { text: 'never' }], { address: 'shop/other' });
    const turn = minute.agent.send('go');
    await until(() => minute.events.some((event) => event.type === 'retry' && event.inMs === 50_000));
    minute.agent.stop();
    expect(await turn).toMatchObject({ how: 'stopped' });
  });

  it('a carrier that the provider refuses becomes one line, and the conversation continues', async () => {
    const bad = { error: Object.assign(new Error('bad content'), { statusCode: 400 }) };
    const { agent, model } = await start([bad, bad, { text: 'a trial' }, bad, { text: 'ok' }]);
    await queue('poison', { id: 'n1' });
    expect(await agent.send('go')).toMatchObject({ how: 'complete', text: 'ok' });
    const sent = model.requests.map(({ prompt }) => JSON.stringify(prompt));
    expect(sent.map((prompt) => prompt.includes('poison'))).toEqual([true, true, false, true, false]);
    expect(sent.map((prompt) => prompt.includes('refused them'))).toEqual([false, false, true, false, true]);
  });

  it('a conversation has one writer until it is closed', async () => {
    const { agent } = await start([{ text: 'x' }]);
    const again = (): Promise<Agent> => createAgent({ model: scriptedModel([]), earpiece: inbox, address: 'shop/coder' });
    await expect(again()).rejects.toMatchObject({ code: 'store_refused' });
    await agent.close();
    await (await again()).close();
  });

  it('asks the model in a separate request about tools that still run; the answer `wait` adds one more cycle', async () => {
    const asked: string[] = [];
    const { agent, model } = await start(
      [{ text: 'I am done' }, { text: 'Well: {"q1": "wait", "q9": "wait", "q2": "perhaps"}' }, { text: 'the build is fine' }],
      {
        onTurnEnd: async ({ ask }) => {
          if (asked.length > 0) return {};
          const inquiry = (id: string): Inquiry => ({
            id,
            source: { source: 'tool', name: 'run' },
            question: {
              text: `run ${id} is still running`,
              answer_type: { type: 'select', options: ['wait', 'abort', 'leave'] },
              default: 'leave',
              handle: { id, tool: 'run', state: 'running', elapsed_secs: 1, output_preview: '' },
            },
          });
          const answers = await askInquiries(ask)([inquiry('q1'), inquiry('q2')]);
          asked.push(...Object.entries(answers).map(([id, answer]) => `${id} ${answer}`));
          await queue('build ended', { id: 'n1' });
          return { again: true };
        },
      },
    );
    expect(await agent.send('go')).toMatchObject({ how: 'complete', text: 'the build is fine', cycles: 2 });
    expect(asked).toEqual(['q1 wait']);
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain('run q1 is still running');
    expect(JSON.stringify(model.requests[2]?.prompt)).not.toContain('still running');
    expect(extends_(model.requests[0]?.prompt ?? [], model.requests[2]?.prompt ?? [])).toBe(true);
    expect(carriers(agent)).toMatchObject([{ source: 'system', notifications: [{ id: 'n1' }] }]);
  });

  it('a separate request at the end of a turn counts in the tokens of the turn, and is refused if they are used up', async () => {
    const refused: unknown[] = [];
    const { agent, model } = await start([{ text: 'I am done' }, { text: 'leave it' }], {
      // Each answer of the script uses 15 tokens.
      budget: { tokens: 20 },
      onTurnEnd: async ({ ask }) => {
        expect(await ask('Wait?')).toBe('leave it');
        await ask('And now?').catch((error: unknown) => refused.push(error));
      },
    });
    expect(await agent.send('go')).toMatchObject({ how: 'complete', text: 'I am done', cycles: 1 });
    expect(refused).toEqual([expect.objectContaining({ message: 'the tokens of this turn are used up' })]);
    expect(model.requests).toHaveLength(2);
  });

  it('resumes in the middle of a turn: unfinished calls are answered, and nothing is sent twice', async () => {
    const first = await start([{ calls: [{ id: 'a', name: 'never' }] }], {
      tools: [{ ...echo, name: 'never', execute: () => new Promise(() => {}) }],
    });
    void first.agent.send('go');
    await until(() => first.events.some((e) => e.type === 'tool_started'));
    // This call releases the lease without a close, as if the process had died.
    await inbox.releaseWriter(first.agent.conversation);
    await queue('x', { id: 'n1' });
    const second = await start([{ text: 'I see' }]);
    expect(await second.agent.resume()).toMatchObject({ how: 'complete', text: 'I see' });
    const prompt = second.model.requests[0]?.prompt ?? [];
    expect(extends_(first.model.requests[0]?.prompt ?? [], prompt)).toBe(true);
    expect(JSON.stringify(prompt)).toContain('The call may have taken effect');
    expect(await second.agent.resume()).toBeUndefined();
  });
});

/** Whether the messages `b` begin with exactly the messages `a`. */
function extends_(a: LanguageModelV4Prompt, b: LanguageModelV4Prompt): boolean {
  // The cache breakpoints are not part of the cached text.
  const text = (message: LanguageModelV4Prompt[number] | undefined): string =>
    JSON.stringify(message && { ...message, providerOptions: undefined });
  return a.length < b.length && a.every((message, i) => text(message) === text(b[i]));
}
