/**
 * Tests each contact point of an agent with the wire format of each API. The requests are compared with golden files, each
 * notification must arrive once, and each request must be valid for the real API.
 */
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { placementOf, syntheticTool, familyOf } from '../../src/agent/placement.ts';
import type { Part } from '../model/answer.ts';
import type { Step } from '../model/server.ts';
import { find } from '../model/find.ts';
import { proves } from '../verifies.ts';
import { APIS, modelOf } from './apis.ts';
import { doing, echo, Talk, type TalkOptions } from './talk.ts';

const text = (text: string): Part => ({ kind: 'text', text });
const thought: Part = { kind: 'reasoning', text: 'let me think' };
const call = (id: string, name = 'echo'): Part => ({ kind: 'call', id, name, args: { word: 'a long word' } });
const says = (...parts: readonly Part[]): Step => ({ says: parts });

describe.each(APIS)('%s', (api) => {
  proves('delivery:batch', 'delivery:in-turn-reply', 'delivery:idle', 'log:allowlist', 'log:redacted-carrier');
  proves('force:between-turns', 'force:mid-stream', 'force:during-tools', 'agent:wire');
  let talk: Talk;
  afterEach(() => talk[Symbol.asyncDispose]());
  const start = async (steps: readonly Step[], options: TalkOptions = {}): Promise<void> => {
    talk = await Talk.start(api, steps, options);
  };

  it('notifications arrive at the start of a turn, before and between turns', async () => {
    await start([says(thought, text('hello')), says(text('all good'))]);
    await talk.queue('EARLY the nightly build is red');
    await talk.agent.send('hi');
    await talk.queue('BETWEEN it is green again');
    await talk.queue('BETWEEN-2 `main` moved', { kind: 'git.behind', level: 'warning' });
    await talk.agent.send('and now?');
    expect(talk.requests).toHaveLength(2);
    talk.check(['EARLY', 'BETWEEN ', 'BETWEEN-2']);
    await talk.golden('turns');
  });

  it('notifications arrive at the end of a batch of tools, also if calls fail', async () => {
    await start(
      [says(thought, text('I look'), call('call_1'), call('call_2', 'fails'), call('call_3', 'ecko')), says(text('done'))],
      {
        tools: [
          doing('echo', async () => {
            await talk.queue('DURING the disk fills');
            return { content: 'echoed' };
          }),
          doing('fails', async () => {
            await talk.queue('FAILING and more', { level: 'error' });
            throw new Error('no such file');
          }),
        ],
      },
    );
    await talk.agent.send('go');
    talk.check(['DURING', 'FAILING', 'no such file', 'did you mean echo']);
    await talk.golden('batch');
  });

  it('a call that fails without a message has a result that the provider accepts', async () => {
    await start([says(thought, call('call_1')), says(text('done'))], {
      tools: [doing('echo', async () => ({ content: '', isError: true }))],
    });
    await talk.agent.send('go');
    talk.check([]);
    await talk.golden('wordless');
  });

  it("a person's reply cuts off the answer, and the same turn continues with the reply and the waiting notification", async () => {
    await start([
      {
        says: [text('I will delete all of it')],
        at: [
          {
            part: 0,
            delta: 3,
            do: async ({ cutOff }) => {
              await talk.heard('text', 'delete ');
              await talk.queue('NOTE the disk fills');
              talk.agent.reply('NO, only the logs');
              await cutOff;
            },
          },
        ],
      },
      says(text('only the logs')),
    ]);
    expect(await talk.agent.send('clean up')).toMatchObject({ how: 'complete', text: 'only the logs' });
    talk.check(['NOTE', 'NO, only', 'I will delete']);
    await talk.golden('reply');
  });

  it('a notification that arrives during the last answer starts one more cycle', async () => {
    await start([
      {
        says: [text('all is well')],
        at: [{ part: 0, delta: 1, do: () => talk.queue('LATE the deploy failed', { level: 'error' }) }],
      },
      says(text('it is not')),
    ]);
    expect(await talk.agent.send('how is it?')).toMatchObject({ how: 'complete', cycles: 2, text: 'it is not' });
    talk.check(['LATE', 'all is well']);
    await talk.golden('last-answer');
  });

  it('a critical notification between turns starts a turn, which also gets the waiting notifications', async () => {
    await start([says(text('hello')), says(text('I stop'))]);
    await talk.agent.send('hi');
    await talk.queue('SLOW something small');
    await talk.queue('FORCED the database is on fire', { level: 'critical' });
    await talk.turns(2);
    talk.check(['SLOW', 'FORCED']);
    await talk.golden('forced-between-turns');
  });

  it('a critical notification cuts off the answer, and the next request has the kept text', async () => {
    await start([
      {
        says: [thought, text('I will delete all of it'), call('call_1')],
        at: [
          {
            part: 1,
            delta: 3,
            do: async ({ cutOff }) => {
              await talk.heard('text', 'delete ');
              await talk.queue('FORCED do not delete', { level: 'critical' });
              await cutOff;
            },
          },
        ],
      },
      says(text('I stop')),
    ]);
    expect(await talk.agent.send('clean up')).toMatchObject({ how: 'complete', cycles: 2, text: 'I stop' });
    expect(talk.requests.map(({ aborted }) => aborted)).toEqual(['client', null]);
    talk.check(['FORCED', 'I will delete']);
    await talk.golden('forced-mid-stream');
  });

  it('a critical notification waits for running tools, and a cancel ends them', async () => {
    let ended = false;
    await start([says(thought, text('I look'), call('call_1'), call('call_2', 'long')), says(text('I stop'))], {
      tools: [
        doing('echo', async () => {
          await talk.queue('FORCED the disk is full', { level: 'critical' });
          return { content: 'echoed' };
        }),
        doing('long', async (_args, { signal }) => {
          await talk.queue('CANCEL not that', { action: 'cancel', instruction: 'leave it' });
          if (!signal.aborted) await once(signal, 'abort');
          ended = true;
          return { content: 'ended early', isError: true };
        }),
      ],
    });
    expect(await talk.agent.send('go')).toMatchObject({ how: 'complete', text: 'I stop' });
    expect(ended).toBe(true);
    expect(talk.requests).toHaveLength(2);
    talk.check(['FORCED', 'CANCEL', 'ended early', 'echoed']);
    await talk.golden('forced-during-tools');
  });

  it('an idle agent is woken with one request, which has all due notifications', async () => {
    await start([says(text('hello')), says(text('I see'))], {
      policy: { wake: { info: 'never', warning: 'never', error: 'auto', critical: 'auto' } },
    });
    await talk.agent.send('hi');
    await talk.queue('SMALL a branch moved');
    await talk.queue('MIDDLE the disk fills', { level: 'warning' });
    await talk.queue('WAKES the build failed', { level: 'error' });
    await talk.turns(2);
    expect(talk.requests).toHaveLength(2);
    talk.check(['SMALL', 'MIDDLE', 'WAKES']);
    await talk.golden('idle');
  });

  it('records of other types stay in the log and never reach the API', async () => {
    await start([says(thought, text('hello')), says(text('well'))]);
    await talk.agent.send('hi');
    await talk.agent.conversation.record([
      { type: 'inquiry_request', id: 'q1', question: 'UNSEEN' },
      { type: 'config_delta', delta: { UNSEEN: true } },
      { type: 'of_a_later_version', content: 'UNSEEN' },
    ]);
    await talk.restart();
    await talk.agent.send('and now?');
    expect(find(talk.requests, 'UNSEEN').inLast).toBe(0);
    talk.check([]);
  });

  it('notifications that the API refuses are replaced by one line, even after a restart', async () => {
    const refuses = {
      status: 400,
      body: { error: { message: 'bad content', type: 'invalid_request_error', code: 400, status: 'INVALID' } },
    };
    await start([], {
      stepOf: ({ text: sent }) =>
        sent.includes('POISON') ? { refuses } : says(text(sent.includes('and now?') ? 'well' : 'hello')),
    });
    await talk.queue('POISON');
    expect(await talk.agent.send('hi')).toMatchObject({ how: 'complete', text: 'hello' });
    await talk.restart();
    expect(await talk.agent.send('and now?')).toMatchObject({ how: 'complete', text: 'well' });
    // The agent sends the whole request twice. A trial without the notification and another whole request then prove the cause.
    // After that, the agent sends requests without the notification.
    expect(find(talk.requests, 'POISON').counts).toEqual([1, 1, 0, 1, 0, 0]);
    talk.check(['the provider refused them']);
    await talk.golden('redacted');
  });

  it('as an option, notifications are shown as a call that the model never made', async () => {
    const placement = syntheticTool(placementOf(familyOf((await modelOf(api, 'http://127.0.0.1')).provider)));
    await start([says(text('I look'), call('call_1')), says(call('call_2')), says(text('done'))], {
      placement,
      providerOptions: {},
      tools: [
        doing('echo', async (args, more) => {
          await talk.queue(`DURING ${more.id}`);
          return echo.execute(args, more);
        }),
      ],
    });
    await talk.agent.send('go');
    // A made-up call has no signature. Gemini accepts a placeholder in place of the signature.
    talk.check(['DURING call_1', 'DURING call_2'], { except: ['gemini:real-signature'] });
    await talk.golden('synthetic-tool');
  });
});
