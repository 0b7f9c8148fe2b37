import { expect, test } from 'vitest';
import { find } from '../model/find.ts';
import type { JsonObject } from '../model/json.ts';
import { prefixChanges } from '../model/prefix.ts';
import { nextStep } from '../model/script.ts';
import type { Recorded } from '../model/tap.ts';

test('find counts a marker in every text that the model reads', () => {
  const found = find([request([user('a')]), request([user('a'), result('1', 'WORD, WORD'), user('WORD')])], 'WORD');
  expect(found).toMatchObject({ first: 1, counts: [0, 3], inLast: 3 });
  expect(found.places.map((place) => place.relation)).toEqual(['inside result 1 (1)', 'after result 1 by 1 messages']);
});

test('prefixChanges finds one changed byte of an earlier message, and a changed tool', () => {
  const changed = [request([user('alpha')]), request([user('alphA'), result('1', 'x')], 'other')];
  expect(prefixChanges(changed).map(({ where }) => where)).toEqual(['tools', 0]);
});

test('prefixChanges finds a missing earlier message', () => {
  expect(prefixChanges([request([user('a'), user('b')]), request([user('a')])])).toMatchObject([{ where: 1 }]);
});

test('prefixChanges ignores a moved cache_control and an unwrapped text block, unless strict', () => {
  const cached = { role: 'user', content: [{ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }] };
  expect(prefixChanges([request([cached]), request([user('a')])])).toEqual([]);
  expect(prefixChanges([request([cached]), request([user('a')])], { strict: true })).toHaveLength(1);
});

test('nextStep finds the next step from the conversation alone', () => {
  const script = [{ calls: [{ name: 'a' }, { name: 'b' }] }, { text: 'one' }, { calls: [{ name: 'c' }] }];
  const called = { role: 'assistant', tool_calls: [{}, {}] };
  const results = [{ role: 'tool' }, { role: 'tool' }];
  expect(nextStep([{ role: 'user' }], script)).toBe(0);
  expect(nextStep([{ role: 'user' }, called, ...results], script)).toBe(1);
  expect(nextStep([{ role: 'user' }, called, ...results, { role: 'assistant' }, { role: 'user' }], script)).toBe(2);
});

const user = (text: string): JsonObject => ({ role: 'user', content: text });
const result = (id: string, text: string): JsonObject => ({ role: 'tool', tool_call_id: id, content: text });

function request(messages: readonly JsonObject[], tool = 'echo'): Recorded {
  const body = { messages, tools: [{ name: tool }] };
  const text = JSON.stringify(body);
  return { n: 1, at: '', method: 'POST', path: '/', raw: Buffer.from(text), text, body, status: 200, bytes: 0, aborted: null };
}
