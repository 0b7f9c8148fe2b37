/**
 * Tests that a sent prefix never changes by a byte: compares raw requests step by step, in a conversation with many kinds of
 * events.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { Draft } from '../../src/core/records.ts';
import type { Part } from '../model/answer.ts';
import type { Request } from '../model/server.ts';
import { APIS } from './apis.ts';
import { proves } from '../verifies.ts';
import { changes } from './prefix.ts';
import { doing, echo, Talk } from './talk.ts';

const thought: Part = { kind: 'reasoning', text: 'let me think' };
const text = (text: string): Part => ({ kind: 'text', text });
const call = (id: string, name = 'echo'): Part => ({ kind: 'call', id, name, args: { word: `of ${id}` } });

describe.each(APIS)('%s', (api) => {
  proves('agent:prefix');
  let talk: Talk;
  let forced = 0;
  afterEach(() => talk[Symbol.asyncDispose]());
  const cut = async ({ cutOff }: Request, ...heard: readonly [] | Parameters<Talk['heard']>): Promise<void> => {
    if (heard.length === 2) await talk.heard(...heard);
    await talk.queue(`FORCED-${++forced} stop that`, { level: 'critical' });
    await cutOff;
  };

  /**
   * Runs a conversation with reasoning, notifications, failing tools, three aborts, a stop, restarts in and between turns, and a
   * forced turn.
   */
  async function longTalk(): Promise<void> {
    forced = 0;
    talk = await Talk.start(
      api,
      [
        { says: [thought, text('I look'), call('call_1'), call('call_2', 'fails'), call('call_3', 'none')] },
        {
          says: [thought, text('it grows as I watch'), call('call_4')],
          at: [{ part: 1, delta: 3, do: (request) => cut(request, 'text', 'grows as ') }],
        },
        // A whole cycle follows each abort, because the next abort waits for that cycle.
        { says: [thought, call('call_5')] },
        {
          says: [thought, call('call_6'), call('call_7')],
          at: [{ part: 2, delta: 1, do: (request) => cut(request, 'tool_input', 'of call_6"}') }],
        },
        { says: [thought, call('call_9')] },
        { says: [text('never')], before: cut },
        { says: [thought, text('done with it')] },
        {
          says: [text('I begin to say')],
          at: [
            {
              part: 0,
              delta: 2,
              do: async ({ cutOff }) => {
                await talk.heard('text', 'I begin ');
                talk.agent.stop();
                await cutOff;
              },
            },
          ],
        },
        { says: [thought, call('call_8', 'waits')] },
        { says: [text('again done')] },
        { says: [text('alarmed')] },
      ],
      {
        tools: [
          echo,
          doing('fails', async () => {
            await talk.queue('the disk fills', { level: 'warning' });
            throw new Error('no such file');
          }),
          doing('waits', () => restarting.promise.then(() => new Promise(() => {}))),
        ],
      },
    );
    const restarting = Promise.withResolvers<void>();
    await talk.queue('EARLY the nightly build is red');
    await talk.agent.send('go');
    await talk.restart();
    await talk.queue('BETWEEN it is green again');
    expect(await talk.agent.send('and now?')).toMatchObject({ how: 'stopped' });
    await talk.restart();
    expect(await talk.agent.resume()).toBeUndefined();
    // The restart cuts off a running tool, and the turn continues after it.
    const turn = talk.agent.send('go on');
    await talk.until((events) => events.some((event) => event.type === 'tool_started' && event.name === 'waits'));
    restarting.resolve();
    await talk.restart();
    await turn;
    await talk.queue('MEANWHILE `main` moved');
    expect(await talk.agent.resume()).toMatchObject({ how: 'complete', text: 'again done' });
    await talk.queue('LAST the database is on fire', { level: 'critical' });
    await talk.until((events) => {
      const answered = events.findIndex((event) => event.type === 'text' && event.delta === 'alarmed');
      return answered >= 0 && events.slice(answered).some((event) => event.type === 'turn_ended');
    });
  }

  it('each request begins with the previous request, through reasoning, notifications, aborts and restarts', async () => {
    await longTalk();
    expect(talk.requests).toHaveLength(11);
    talk.check(['EARLY', 'BETWEEN', 'MEANWHILE', 'LAST', 'FORCED-1', 'FORCED-2', 'FORCED-3', 'the disk fills']);
    await talk.golden('long-talk');
  });

  it('the check notices a change of one byte in an older message', async () => {
    talk = await Talk.start(api, [{ says: [text('hello')] }, { says: [text('well')] }, { says: [text('bye')] }]);
    await talk.agent.send('how are you?');
    await talk.agent.send('and now?');
    expect(changes(talk.requests)).toEqual([]);
    const records = talk.agent.records as Draft[];
    const at = records.findIndex((record) => 'message' in record);
    records[at] = { ...records[at], message: 'hellO' } as Draft;
    await talk.agent.send('bye');
    const seen = changes(talk.requests);
    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      from: 1,
      to: 2,
      was: expect.stringContaining('hello'),
      is: expect.stringContaining('hellO'),
    });
    expect(() => talk.check([])).toThrow();
  });
});
