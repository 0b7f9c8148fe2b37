/** Tests that an agent's own events are in its next request, once, in the words of the shipped subscribers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { openLoadedInbox, type LoadedInbox } from '../../src/loaded-inbox.ts';
import type { LogKey } from '../../src/core/address.ts';
import type { NotificationId } from '../../src/core/notification.ts';
import { fileTools } from '../../src/agent/file-tools.ts';
import { ownTools } from '../../src/agent/own-tools.ts';
import { filesSource } from '../../src/sources/files/index.ts';
import type { Part } from '../model/answer.ts';
import type { Step } from '../model/server.ts';
import { find } from '../model/find.ts';
import type { Tool } from '../../src/handles/tool.ts';
import { proves } from '../verifies.ts';
import { APIS, type Api } from './apis.ts';
import { ADDRESS, doing, Talk, type TalkOptions } from './talk.ts';

const text = (text: string): Part => ({ kind: 'text', text });
const call = (id: string, name = 'echo', args = {}): Part => ({ kind: 'call', id, name, args });
/** Makes an answer that begins with signed thinking, because Anthropic refuses an answer with calls and without thinking. */
const says = (...parts: readonly Part[]): Step => ({ says: [{ kind: 'reasoning', text: 'let me think' }, ...parts] });
const fails = doing('fails', () => Promise.reject(new Error('NO-SUCH-VAULT')));

const folder = mkdtempSync(join(tmpdir(), 'earpiece-agent-sources-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const openEar = (): Promise<LoadedInbox> => openLoadedInbox({ db: 'memory:', cwd: folder, env: { HOME: folder, TZ: 'UTC' } });

async function start(steps: readonly Step[], options: TalkOptions = {}, api: Api = 'openai-chat'): Promise<Talk> {
  const talk = await Talk.start(api, steps, { inbox: await openEar(), ...options });
  cleanups.push(() => talk[Symbol.asyncDispose]());
  return talk;
}

/** Returns how often the n-th request (from 1; default: the last) contains the text, also in tool results and arguments. */
const times = (talk: Talk, words: string, n = talk.requests.length): number => find(talk.requests, words).counts[n - 1] ?? 0;

describe.each(APIS)('%s: tools that fail', (api) => {
  proves('sources:failures');

  it('US1(a), SC-001: a failing tool is reported once, in its result; its notification closes as known', async () => {
    const talk = await start(
      [says(call('c1', 'fails'), call('c2', 'fails'), call('c3', 'ecko')), says(text('done'))],
      { tools: [fails] },
      api,
    );
    await talk.agent.send('go');
    await talk.agent.send('and now?');
    expect(times(talk, 'NO-SUCH-VAULT', 2)).toBe(2);
    expect(times(talk, 'There is no tool', 2)).toBe(1);
    talk.check([]);
    expect(times(talk, 'tool_fail')).toBe(0);
    expect(await outcomes(talk)).toEqual(['known']);
  });
});

/** Returns the different outcomes of all notifications, except `folded`. */
const outcomes = async (talk: Talk): Promise<readonly (string | undefined)[]> => {
  const ids = (await talk.inbox.store.read({ log: 'shop/coder' as LogKey })).flatMap(({ body }) =>
    body.type === 'system_notification_queued' ? [(body as unknown as { id: NotificationId }).id] : [],
  );
  const items = await talk.inbox.store.items('shop/coder' as LogKey, { kind: 'ids', ids });
  return [...new Set(items.map(({ outcome }) => outcome))].filter((outcome) => outcome !== 'folded');
};

describe('tools that fail', () => {
  proves('sources:failures');

  it('a tool that does not answer in time is a timeout', async () => {
    const hangs = { ...doing('hangs', () => new Promise<never>(() => {})), timeoutMs: 60 };
    const talk = await start([says(call('c1', 'hangs')), says(text('done'))], { tools: [hangs] });
    await talk.agent.send('go');
    talk.check([]);
    expect(times(talk, 'timeout after 60 ms')).toBe(1);
    expect(await outcomes(talk)).toEqual(['known']);
  });

  it("a foreground command's exit code is only in its result, and not in a notification", async () => {
    const grep: Tool = doing('run', async () => ({ content: '(no output)\n[exit code 1]', isError: true }));
    const talk = await start([says(call('c1', 'run')), says(text('done'))], { tools: [grep] });
    await talk.agent.send('go');
    expect(times(talk, 'exit code 1')).toBe(1);
    expect(times(talk, '[ep ')).toBe(0);
  });

  it('a successful call gives no notification', async () => {
    const talk = await start([says(call('c1')), says(text('done'))]);
    await talk.agent.send('go');
    expect(times(talk, '[ep ')).toBe(0);
    expect(await talk.inbox.open('shop/coder')).toEqual([]);
  });
});

describe('thresholds', () => {
  proves('sources:thresholds');
  // The scripted model counts 15 tokens a request.
  const calls = (n: number): Step[] => Array.from({ length: n }, (_, i) => says(call(`c${i}`, 'echo', { n: i })));

  it('US3(a), FR-002, SC-006: 80 % of the tokens give one warning', async () => {
    const talk = await start([...calls(3), says(text('done'))], { budget: { tokens: 75 } });
    expect(await talk.agent.send('go')).toMatchObject({ how: 'complete', cycles: 4 });
    talk.check([]);
    // The turn reaches 80 % (60 of 75 tokens) only with its last answer, so there is nothing to report.
    expect(times(talk, 'budget_warn')).toBe(0);
    const more = await start([...calls(5), says(text('done'))], { budget: { tokens: 105, warnAt: { tokens: 0.7 } } });
    expect(await more.agent.send('go')).toMatchObject({ how: 'complete', cycles: 6 });
    expect([4, 5, 6].map((n) => times(more, 'budget_warn', n))).toEqual([0, 0, 1]);
    more.check(['budget_warn: token at 71% - 30 of 105 left']);
  });

  it('US3(b): 70 % of the iterations give one warning', async () => {
    const talk = await start([...calls(8), says(text('done'))], { maxCycles: 10 });
    await talk.agent.send('go');
    expect([7, 8, 9].map((n) => times(talk, 'budget_warn', n))).toEqual([0, 1, 1]);
    talk.check(['budget_warn: iteration at 70% - 3 of 10 left']);
  });

  it('the warning at 70 % of the context also comes at the end of a turn, and not again at the beginning of the next', async () => {
    const talk = await start([says(text('hello')), says(call('c1')), says(text('done'))], { budget: { contextTokens: 20 } });
    await talk.agent.send('hi');
    await talk.agent.send('go');
    talk.check(['context_warn: 75% used (5 tokens remaining)']);
  });

  it('US3(c): several warnings at the same moment become one status', async () => {
    const talk = await start([...calls(2), says(text('done'))], {
      budget: { tokens: 36, warnAt: { iterations: 0.6 } },
      maxCycles: 3,
    });
    await talk.agent.send('go');
    talk.check(['budget_warns[2]{budget,percent,left,limit}', 'token,83,6,36', 'iteration,66,1,3']);
  });

  it('a turn over its token limit is interrupted and gets one more answer, whose calls do not run', async () => {
    let ran = 0;
    const counted = doing('echo', async () => ({ content: `RAN-${++ran}` }));
    const talk = await start([...calls(5)], { tools: [counted], budget: { tokens: 20 } });
    expect(await talk.agent.send('go')).toMatchObject({
      how: 'failed',
      cycles: 3,
      error: 'the turn used 45 tokens (limit: 20 tokens)',
    });
    expect(ran).toBe(2);
    expect([2, 3].map((n) => times(talk, '!exceeded: token limit reached', n))).toEqual([0, 1]);
    // The budget ends with the turn, and the next turn starts with a new budget.
    expect(await talk.inbox.open('shop/coder')).toEqual([]);
    await talk.agent.send('again');
    expect(times(talk, 'Not run: the tokens of this turn are used up.', 4)).toBe(1);
  });

  it('an answer that ends normally is not a failure, regardless of its tokens, and wakes no agent', async () => {
    const talk = await start([says(text('a long answer'))], { budget: { tokens: 10 } });
    expect(await talk.agent.send('go')).toMatchObject({ how: 'complete', cycles: 1 });
    expect(await talk.inbox.open('shop/coder')).toEqual([]);
    expect(talk.requests).toHaveLength(1);
  });

  it('a turn that ran out of iterations is reported in the next turn, and does not wake the agent', async () => {
    const talk = await start([...calls(3), says(text('I see'))], { maxCycles: 2 });
    expect(await talk.agent.send('go')).toMatchObject({ how: 'failed', cycles: 2 });
    expect(talk.agent.mode).toBe('idle');
    await talk.agent.send('what happened?');
    expect(talk.requests).toHaveLength(4);
    talk.check(['!exceeded: iteration limit reached']);
  });
});

describe('loops', () => {
  proves('sources:loops');

  it('FR-003, US4(a): the third repetition is reported once, as critical', async () => {
    const again = [1, 2, 3, 4, 5].map((n) => says(call(`c${n}`, 'echo', { query: 'the same' })));
    const talk = await start([...again, says(text('done'))]);
    await talk.agent.send('go');
    expect([3, 4, 5, 6].map((n) => times(talk, '!loop:', n))).toEqual([0, 1, 1, 1]);
    talk.check(['!loop: echo(query: the same) repeated 3x']);
    expect(JSON.stringify(talk.requests[3]?.body)).toMatch(/agent critical: !loop/);
  });
});

describe('rate limits', () => {
  proves('sources:rate-limits');
  const headers = {
    'x-ratelimit-limit-tokens': '40000',
    'x-ratelimit-remaining-tokens': '300',
    'x-ratelimit-reset-tokens': '6m0s',
  };

  it('a low limit is reported once', async () => {
    const talk = await start([
      { ...says(call('c1')), headers },
      { ...says(call('c2')), headers },
      { ...says(text('done')), headers },
    ]);
    await talk.agent.send('go');
    talk.check(['300 of 40,000 tokens are left at openai (reset in 360 s)']);
  });

  it('a refusal is reported after the retry', async () => {
    const refuses = { status: 429, body: { error: { message: 'too fast', type: 'rate_limit_error' } } };
    const talk = await start([{ refuses, headers: { 'retry-after-ms': '20' } }, says(call('c1')), says(text('done'))], {
      maxRetries: 1,
    });
    expect(await talk.agent.send('go')).toMatchObject({ how: 'complete' });
    talk.check(['openai refused a request: the rate limit is exceeded; wait for 20 ms']);
  });
});

describe('files', () => {
  proves('sources:files');

  it('if a file changed since its last read, the result of the next read reports that once', async () => {
    const inbox = await openEar();
    const path = join(folder, 'plan.txt');
    writeFileSync(path, 'FIRST-PLAN');
    // The source itself checks nothing for a minute.
    const files = filesSource({ emitter: inbox.bus, subject: ADDRESS, root: folder, debounceMs: 60_000 });
    await files.start();
    cleanups.push(() => files.stop());
    const talk = await start(
      [
        says(call('c1', 'read_file', { path: 'plan.txt' })),
        { ...says(call('c2', 'read_file', { path: 'plan.txt' })), before: () => writeFileSync(path, 'SECOND-PLAN') },
        says(call('c3', 'read_file', { path: 'plan.txt' })),
        says(text('done')),
      ],
      { inbox, tools: fileTools({ root: folder, files }) },
    );
    await talk.agent.send('go');
    expect([2, 3, 4].map((n) => times(talk, 'source_stale: plan.txt', n))).toEqual([0, 1, 1]);
    talk.check(['FIRST-PLAN', 'source_stale: plan.txt']);
  });
});

describe('a resumed conversation', () => {
  it('reports that the conversation is resumed, and what changed in its setup', async () => {
    const inbox = await openEar();
    const before = await Talk.start('openai-chat', [says(text('hello'))], { inbox });
    await before.agent.send('What is the plan?');
    await before.agent.close();
    const talk = await start([says(text('well'))], { inbox, tools: [fails] }, 'openai-responses');
    await talk.agent.send('and now?');
    await before.model[Symbol.asyncDispose]();
    talk.check([
      'last: "What is the plan?"',
      'The tools have changed since the last turn: `fails` is new; `echo` was removed',
      'The model has changed since the last turn: from openai:gpt-4.1 to openai:gpt-5',
    ]);
    await talk.restart();
    await talk.agent.send('and now?');
    expect(times(talk, 'have changed since')).toBe(1);
  });
});

describe('notes of an agent for itself', () => {
  proves('self:deferred');

  it('arrive once, in order, when they are due, even after a restart', async () => {
    let talk: Talk | undefined;
    const tools = ownTools({
      agent: () => {
        if (talk === undefined) throw new Error('not open yet');
        return talk.agent;
      },
    });
    const note = (id: string, args: object): Part => call(id, 'notify_self', args);
    talk = await start(
      [
        says(
          note('c1', { message: 'LATER-LOW', deliver_at: { after_turns: 1 }, priority: 'low' }),
          note('c2', { message: 'LATER-HIGH', deliver_at: { after_turns: 1 }, priority: 'critical', category: 'warning' }),
          note('c3', { message: 'SOON', category: 'discovery', key: 'k' }),
        ),
        says(text('noted')),
        says(text('well')),
      ],
      { tools },
    );
    await talk.agent.send('go');
    talk.check(['[DISCOVERY] SOON']);
    expect(times(talk, '] LATER')).toBe(0);
    await talk.restart();
    await talk.agent.send('and now?');
    const last = talk.requests.at(-1)?.text ?? '';
    expect(last.indexOf('[!WARN] LATER-HIGH')).toBeGreaterThan(0);
    expect(last.indexOf('[NOTE] LATER-LOW')).toBeGreaterThan(last.indexOf('[!WARN] LATER-HIGH'));
    await talk.restart();
    await talk.agent.send('and now?');
    talk.check(['[!WARN] LATER-HIGH', '[NOTE] LATER-LOW', '[DISCOVERY] SOON']);
    expect(await talk.inbox.open('shop/coder')).toEqual([]);
  });
});
