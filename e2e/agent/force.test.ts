/** Tests forced delivery between processes, and that a turn always ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/stores/index.ts';
import type { Part } from '../model/answer.ts';
import type { Request, Step } from '../model/server.ts';
import { find } from '../model/find.ts';
import { proves } from '../verifies.ts';
import { APIS } from './apis.ts';
import { elsewhere, type Elsewhere } from './elsewhere.ts';
import { ADDRESS, doing, echo, Talk } from './talk.ts';

const text = (text: string): Part => ({ kind: 'text', text });
const call = (id: string, name = 'echo'): Part => ({ kind: 'call', id, name });

const folder = mkdtempSync(join(tmpdir(), 'earpiece-force-'));
const db = join(folder, 'e.db');
let other: Elsewhere;
beforeAll(async () => {
  other = await elsewhere(db);
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

it.each(APIS)(
  '%s: a critical notification of another process ends the stream; the next request has the kept part and the notification',
  async (api) => {
    const address = `shop/${api}#main`;
    await using talk: Talk = await Talk.start(
      api,
      [
        {
          says: [text('I will delete all of it')],
          at: [
            {
              part: 0,
              delta: 3,
              do: async ({ cutOff }) => {
                await talk.heard('text', 'delete ');
                const began = await other.queue(address, { kind: 'user.stop', level: 'critical', message: 'FORCED stop that' });
                // The agent aborts the answer only after the notification was queued. The bench measures the delay.
                expect(await cutOff).toBeGreaterThan(began);
              },
            },
          ],
        },
        { says: [text('I stop')] },
      ],
      { store: await openSqliteStore({ path: db }), address },
    );
    expect(await talk.agent.send('clean up')).toMatchObject({ how: 'complete', cycles: 2, text: 'I stop' });
    expect(talk.requests.map(({ aborted }) => aborted)).toEqual(['client', null]);
    talk.check(['I will delete', 'FORCED']);
  },
);

describe('no loops', () => {
  proves('force:no-loops');
  it('with endless critical notifications of another process the turn still ends, and each notification is delivered once', async () => {
    const goes = 6;
    let alarms = 0;
    const alarm = (): Promise<unknown> =>
      other.queue(ADDRESS, { kind: 'alarm.raised', level: 'critical', message: `ALARM-${alarms++}.` });
    // Chooses the steps of a model that queues a critical notification at each word, and calls a tool until a count is reached.
    const alarmed = (request: Request): Step => {
      const done = request.text.split('"role":"tool"').length - 1;
      const says: Part[] = done < goes ? [text('I am working on it'), call(`call_${request.n}`)] : [text('done at last')];
      const words = says[0]?.kind === 'text' ? says[0].text.split(' ').length : 0;
      // Each answer waits for its abort, unless the previous answer was aborted. The previous abort may become known only after
      // this request has arrived, so the loop checks it again.
      const before = talk.requests.at(-2);
      return {
        says,
        at: Array.from({ length: words }, (_, delta) => ({
          part: 0,
          delta,
          do: async ({ cutOff }) => {
            await alarm();
            if (done >= goes || delta === 0) return;
            let isCutOff = false;
            void cutOff.then(() => (isCutOff = true));
            while (!isCutOff && before?.aborted !== 'client') await sleep(2);
          },
        })),
      };
    };
    await using talk: Talk = await Talk.start('openai-chat', [], {
      store: await openSqliteStore({ path: db }),
      stepOf: alarmed,
    });
    const result = await talk.agent.send('go');
    expect(result).toMatchObject({ how: 'complete', text: 'done at last' });
    const cutOff = talk.requests.filter(({ aborted }) => aborted === 'client').length;
    expect(cutOff).toBeGreaterThanOrEqual(goes);
    // After each aborted request, the next request is complete.
    expect(talk.requests.some(({ aborted }, i) => aborted && talk.requests[i + 1]?.aborted)).toBe(false);
    // The last critical notification may wake the agent once more.
    await talk.until(() => talk.agent.mode === 'idle');
    const delivered = talk.agent.records.flatMap((record) =>
      'notifications' in record ? (record.notifications as { id: string }[]).map(({ id }) => id) : [],
    );
    expect(delivered.length).toBeGreaterThan(5);
    expect(new Set(delivered).size).toBe(delivered.length);
    talk.check([]);
  });

  it('a flapping source adds at most three cycles', async () => {
    let n = 0;
    const step: Step = {
      says: [text('all is well')],
      at: [{ part: 0, delta: 1, do: () => talk.queue(`FLAP-${++n}.`, { level: 'error' }) }],
    };
    await using talk: Talk = await Talk.start('anthropic', [step]);
    expect(await talk.agent.send('how is it?')).toMatchObject({ how: 'complete', cycles: 4 });
    expect(talk.requests).toHaveLength(4);
    expect((await talk.inbox.open('shop/coder')).map(({ notification }) => notification.message)).toEqual(['FLAP-4.']);
    talk.check(['FLAP-1.', 'FLAP-2.', 'FLAP-3.']);
  });

  it('if A wakes B and B wakes A, the chain ends at its depth limit', async () => {
    const wake = { info: 'auto', warning: 'auto', error: 'auto', critical: 'auto' } as const;
    const names = ['a', 'b'] as const;
    let hops = 0;
    const talks: Talk[] = [];
    for (const [i, name] of names.entries()) {
      const tell = doing('tell', async () => {
        const agent = talks[i]?.agent;
        if (!agent) throw new Error('not open yet');
        await agent.inbox.queue(`shop/${names[1 - i]}#main`, {
          kind: 'agent.told',
          level: 'error',
          message: `HOP-${++hops}.`,
          origin: agent.origin(),
        });
        return { content: 'told' };
      });
      talks.push(
        await Talk.start('gemini', [], {
          store: await openSqliteStore({ path: db }),
          policy: { wake },
          address: `shop/${name}`,
          tools: [echo, tell],
          providerOptions: {},
          // Each agent forwards every notification that wakes it.
          stepOf: ({ body }) => {
            const last = JSON.stringify((body['contents'] as unknown[]).at(-1));
            return { says: last.includes('functionResponse') ? [text('told')] : [call(`call_${hops}`, 'tell')] };
          },
        }),
      );
    }
    const [a, b] = talks as [Talk, Talk];
    await a.agent.send('begin');
    // Agent `a` sends a message to agent `b` (depth 1), and so on. Each of the first four messages wakes an agent, but the
    // fifth does not.
    await b.until((events) => events.some((event) => event.type === 'waiting' && event.message === 'HOP-5.'));
    for (const talk of talks) await talk.until(() => talk.agent.mode === 'idle');
    expect(hops).toBe(5);
    // The message arrives in the next turn. `send` succeeds, so no turn is running.
    await b.agent.send('are you there?');
    expect(find(b.requests, 'HOP-5.').inLast).toBe(1);
    for (const talk of talks) await talk[Symbol.asyncDispose]();
  });
});
