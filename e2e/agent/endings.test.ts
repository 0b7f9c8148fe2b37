/** Tests how the agent reports the end of an answer: cut off at its limit, refused, or broken by an error of the provider. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Answer, Part } from '../model/answer.ts';
import { textsOf } from '../model/texts.ts';
import { proves } from '../verifies.ts';
import { APIS } from './apis.ts';
import { doing, Talk } from './talk.ts';

const text = (text: string): Part => ({ kind: 'text', text });
const thought: Part = { kind: 'reasoning', text: 'let me think' };
const cut = (id: string, as: string): Part => ({ kind: 'call', id, name: 'write', cut: as });
const whole: Part = { kind: 'call', id: 'call_0', name: 'write', args: { file: 'a', content: 'b' } };

let talk: Talk;
afterEach(() => talk[Symbol.asyncDispose]());
const written: string[] = [];
const write = doing('write', async (args) => {
  written.push(JSON.stringify(args));
  return { content: 'written' };
});
const read = (n: number): string =>
  textsOf(talk.requests[n] as never)
    .map((each) => each.text)
    .join('\n');

describe.each(APIS)('%s', (api) => {
  proves('agent:endings', 'agent:wire');

  it.each<[string, Answer]>([
    ['in its words', [thought, text('the first half of')]],
    ['in its thoughts', [thought]],
    ['before a word', []],
  ])('an answer that is cut off at the limit %s ends the turn as truncated, and the next turn continues', async (_, says) => {
    talk = await Talk.start(api, [{ says, ends: 'length' }, { says: [text('well')] }]);
    expect(await talk.agent.send('write a book')).toMatchObject({
      how: 'truncated',
      error: expect.stringContaining('limit of output tokens'),
      cycles: 1,
    });
    await talk.until((events) => events.some((event) => event.type === 'turn_ended' && event.how === 'truncated'));
    await talk.restart();
    expect(await talk.agent.send('go on')).toMatchObject({ how: 'complete', text: 'well' });
    talk.check([]);
  });

  it('if the provider refuses an answer, the turn reports the refusal, and a call in the answer does not run', async () => {
    written.length = 0;
    talk = await Talk.start(
      api,
      [{ says: [thought, text('I cannot'), { ...whole, id: 'call_9' }], ends: 'refusal' }, { says: [text('well')] }],
      {
        tools: [write],
      },
    );
    expect(await talk.agent.send('do harm')).toMatchObject({
      how: 'refused',
      error: expect.stringContaining('refused to answer'),
    });
    expect(written).toEqual([]);
    expect(await talk.agent.send('do good')).toMatchObject({ how: 'complete', text: 'well' });
    talk.check([]);
  });

  it('an answer that ends with an error of the provider is retried; then the turn fails with the provider’s message', async () => {
    talk = await Talk.start(api, [{ says: [text('I th')], ends: 'error' }], { maxRetries: 1, chance: () => 0 });
    const result = await talk.agent.send('go');
    expect(result).toMatchObject({ how: 'failed', error: expect.stringMatching(/error/i) });
    expect(talk.requests).toHaveLength(2);
    expect(talk.agent.records.filter(({ type }) => type === 'chat_response')).toEqual([]);
  });
});

// Gemini sends a call whole or not at all.
describe.each(APIS.filter((api) => api !== 'gemini'))('%s', (api) => {
  proves('agent:endings', 'agent:wire');

  it.each(['{"file": "a", "content": "the first ha', ''])(
    'if arguments are cut off at %j, the model reads the reason and can correct the call',
    async (as) => {
      written.length = 0;
      talk = await Talk.start(
        api,
        [{ says: [thought, cut('call_1', as)], ends: 'length' }, { says: [thought, whole] }, { says: [text('done')] }],
        {
          tools: [write],
        },
      );
      expect(await talk.agent.send('write a book')).toMatchObject({ how: 'complete', text: 'done', cycles: 3 });
      expect(written).toEqual(['{"file":"a","content":"b"}']);
      expect(read(1)).toMatch(/Not run: your answer reached its limit of output tokens.*cut off after \d+ characters/);
      talk.check([]);
    },
  );

  it('if the arguments of a call are cut off again and again, the turn ends after four requests', async () => {
    talk = await Talk.start(api, [], {
      stepOf: (_request, n) => ({ says: [cut(`call_${n}`, '{"content": "long')], ends: 'length' }),
      tools: [write],
      providerOptions: {},
    });
    expect(await talk.agent.send('write a book')).toMatchObject({
      how: 'truncated',
      cycles: 4,
      error: expect.stringContaining('4 times in a row'),
    });
    expect(talk.requests).toHaveLength(4);
    talk.check([]);
  });
});
