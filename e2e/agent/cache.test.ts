/**
 * Computes from the raw requests alone which part of each request Anthropic's cache would contain, by the documented rules of
 * this cache.
 */
import { expect, it } from 'vitest';
import type { Part } from '../model/answer.ts';
import { asList, isObject, type Json, type JsonObject } from '../model/json.ts';
import { proves } from '../verifies.ts';
import { APIS } from './apis.ts';
import { changes } from './prefix.ts';
import { doing, Talk } from './talk.ts';

const text = (text: string): Part => ({ kind: 'text', text });
const thought: Part = { kind: 'reasoning', text: 'let me think' };
const calls = (n: number, turn: string): Part[] =>
  Array.from({ length: n }, (_, i) => ({ kind: 'call', id: `call_${turn}_${i}`, name: 'echo' }));

/** The number of blocks before a cache mark in which the API searches for a cached beginning. */
const LOOKS_BACK = 20;

type Block = { readonly text: string; readonly marked: boolean };

/** Returns all blocks that the API caches, in its order: tools, system, messages. */
function blocksOf(body: JsonObject): readonly Block[] {
  const block = (value: Json): Block => {
    const { cache_control, ...rest } = isObject(value) ? value : {};
    return { text: JSON.stringify(isObject(value) ? rest : value), marked: cache_control !== undefined };
  };
  const list = (value: Json | undefined): readonly Json[] => asList(value) ?? (value === undefined ? [] : [value]);
  return [
    ...list(body['tools']),
    ...list(body['system']),
    ...list(body['messages']).flatMap((message) => (isObject(message) ? list(message['content']) : [])),
  ].map(block);
}

/** Returns for each request the number of its blocks, and how many of them the cache has from earlier requests. */
function readFromCache(requests: readonly JsonObject[]): readonly { readonly of: number; readonly read: number }[] {
  const cache = new Set<string>();
  return requests.map((body) => {
    const blocks = blocksOf(body);
    const prefix = (end: number): string =>
      blocks
        .slice(0, end)
        .map((block) => block.text)
        .join('\n');
    const marks = blocks.flatMap(({ marked }, i) => (marked ? [i + 1] : []));
    const read = Math.max(
      0,
      ...marks.flatMap((end) =>
        Array.from({ length: LOOKS_BACK + 1 }, (_, back) => end - back).filter((at) => at > 0 && cache.has(prefix(at))),
      ),
    );
    for (const end of marks) cache.add(prefix(end));
    return { of: blocks.length, read };
  });
}

it('anthropic: the cache contains the whole previous request, even after a long batch and after a restart', async () => {
  proves('agent:cache', 'agent:wire');
  await using talk: Talk = await Talk.start(
    'anthropic',
    [
      { says: [thought, text('I look'), ...calls(2, 'a')] },
      { says: [thought, ...calls(30, 'b')] },
      { says: [text('done')] },
      { says: [thought, text('well')] },
      { says: [thought, ...calls(1, 'c')] },
      { says: [text('bye')] },
    ],
    {
      tools: [
        doing('echo', async (_, { id }) => {
          if (id.endsWith('_0')) await talk.queue(`DURING ${id}`, { level: 'error' });
          return { content: `echo ${id}` };
        }),
      ],
    },
  );
  await talk.queue('EARLY the build is red');
  await talk.agent.send('go');
  await talk.queue('BETWEEN it is green again');
  await talk.agent.send('and now?');
  await talk.restart();
  await talk.agent.send('once more');
  const bodies = talk.requests.map(({ body }) => body as JsonObject);
  expect(bodies).toHaveLength(6);
  const found = readFromCache(bodies);
  expect(found.slice(1).map(({ read }) => read)).toEqual(found.slice(0, -1).map(({ of }) => of));
  expect(changes(talk.requests)).toEqual([]);
  talk.check(['EARLY', 'BETWEEN']);
});

it.each(APIS.filter((api) => api !== 'anthropic'))('%s: requests have no cache marks', async (api) => {
  await using talk = await Talk.start(api, [{ says: [text('well')] }]);
  await talk.agent.send('go');
  expect(talk.requests[0]?.text).not.toMatch(/cache_?control/i);
});

it('anthropic: if the caller sets caching in providerOptions, only that caching is requested', async () => {
  await using talk = await Talk.start('anthropic', [{ says: [text('well')] }], {
    providerOptions: { anthropic: { cacheControl: { type: 'ephemeral', ttl: '1h' } } },
  });
  await talk.agent.send('go');
  expect(talk.requests[0]?.text.split('cache_control')).toHaveLength(2);
  expect(talk.requests[0]?.body?.['cache_control']).toEqual({ type: 'ephemeral', ttl: '1h' });
});
