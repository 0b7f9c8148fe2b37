/**
 * Tests that an agent sends the same requests to another project's mock as to the scripted model. A tap records the bytes that
 * reach the mock.
 */
import { expect, it } from 'vitest';
import type { JsonObject } from '../model/json.ts';
import { startMock } from '../model/mock.ts';
import type { Model } from '../model/server.ts';
import { startTap, type Recorded } from '../model/tap.ts';
import { APIS } from './apis.ts';
import { doing, Talk } from './talk.ts';

const WORDS: JsonObject = { word: 'a long word' };

async function behindTap(): Promise<Model<Recorded>> {
  const mock = await startMock({
    script: [{ calls: [{ name: 'echo', args: WORDS }, { name: 'fails' }] }, { text: 'done' }, { text: 'still done' }],
  });
  const tap = await startTap({ upstream: mock.url });
  return {
    url: tap.url,
    requests: tap.requests,
    [Symbol.asyncDispose]: async () => {
      await tap[Symbol.asyncDispose]();
      await mock[Symbol.asyncDispose]();
    },
  };
}

it.each(APIS)('%s: the agent sends the mock the same requests as the scripted model', async (api) => {
  const steps = [
    {
      says: [
        { kind: 'call', id: 'call_1', name: 'echo', args: WORDS },
        { kind: 'call', id: 'call_2', name: 'fails' },
      ],
    },
    { says: [{ kind: 'text', text: 'done' }] },
    { says: [{ kind: 'text', text: 'still done' }] },
  ] as const;
  const bodies: string[] = [];
  for (const server of [undefined, await behindTap()]) {
    await using talk: Talk = await Talk.start(api, steps, {
      providerOptions: {},
      ...(server ? { server } : {}),
      tools: [
        doing('echo', async () => ({ content: 'echoed' })),
        doing('fails', async () => {
          await talk.queue('DURING the disk fills');
          throw new Error('no such file');
        }),
      ],
    });
    await talk.queue('EARLY the nightly build is red');
    await talk.agent.send('hi');
    await talk.queue('BETWEEN it is green again');
    expect(await talk.agent.send('and now?')).toMatchObject({ how: 'complete', text: 'still done' });
    // The mock signs no calls, so the package of Gemini sends a placeholder as the signature of each call.
    talk.check(['EARLY', 'DURING', 'BETWEEN'], { except: ['gemini:real-signature'] });
    expect(talk.requests).toHaveLength(3);
    bodies.push(withoutIds(talk.requests.at(-1)?.text ?? ''));
  }
  expect(JSON.parse(bodies[1] ?? '')).toEqual(JSON.parse(bodies[0] ?? ''));
});

/**
 * Replaces call ids by their order and the mark by a fixed mark. Removes signatures, and the empty reasoning that the mock adds.
 */
function withoutIds(text: string): string {
  text = text.replaceAll(/\{"type":"reasoning"[^{}]*\},/g, '');
  const ids = new Set([...text.matchAll(/"(?:id|call_id|tool_call_id|tool_use_id)":"([^"]+)"/g)].map(([, id]) => id ?? ''));
  return [...ids]
    .reduce((all, id, i) => all.replaceAll(`"${id}"`, `"id-${i + 1}"`), text)
    .replaceAll(/ep \w+\]/g, 'ep MARK]')
    .replaceAll(/,"thoughtSignature":"[^"]+"/g, '');
}
