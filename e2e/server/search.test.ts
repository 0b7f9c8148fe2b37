/**
 * Tests searches of the log over HTTP: a search reads the whole log in parts, and each answer says how far back the search
 * went.
 */
import { expect } from 'vitest';
import type { ConversationId, LogKey } from '../../src/core/address.ts';
import type { Hit, SearchPage } from '../../src/wire/client/index.ts';
import { verifies } from '../verifies.ts';
import { Stage } from './stage.ts';

const LOG = 'shop/coder' as LogKey;
const main = 'main' as ConversationId;

async function all(ask: (before?: string) => Promise<SearchPage>): Promise<{ hits: Hit[]; pages: SearchPage[] }> {
  const pages: SearchPage[] = [];
  for (let before: string | null | undefined; before !== null; before = pages.at(-1)?.next ?? null) pages.push(await ask(before));
  return { hits: pages.flatMap(({ items }) => items), pages };
}

verifies(
  'server:search',
  'messages of people, models, tools and notifications are found with their places, newest first',
  async () => {
    await using stage = await Stage.open();
    const talk = stage.inbox.conversation('shop/coder#main');
    await talk.record([
      { type: 'chat_request', content: 'Where does the Rounding go wrong?', source: 'user', author: 'Mia' },
      { type: 'chat_response', reasoning: 'rounding is done twice' },
      { type: 'tool_call_request', id: 'c1', name: 'grep', arguments: { pattern: 'rounding(' } },
      {
        type: 'tool_call_response',
        id: 'c1',
        content: `${'x\n'.repeat(400)}src/cart.ts: rounding(total)${' y'.repeat(400)}`,
        is_error: false,
      },
      { type: 'chat_response', message: 'In the cart.' },
    ]);
    await stage.client.queue({
      to: 'shop/coder#main',
      id: 'n1',
      kind: 'ci.failed',
      message: 'build 7',
      data: { test: 'rounding' },
    });
    await stage.client.queue({ to: 'shop/coder#other', kind: 'ci.failed', message: 'rounding, but of another conversation' });
    const { items, next, looked, lookedBackTo } = await stage.client.search('shop/coder#main', { q: 'ROUNDING' });
    expect(items.map(({ type, name, id }) => [type, name, id])).toEqual([
      ['system_notification_queued', 'ci.failed', 'n1'],
      ['tool_call_response', null, 'c1'],
      ['tool_call_request', 'grep', 'c1'],
      ['chat_response', null, null],
      ['chat_request', 'Mia', null],
    ]);
    expect(items[1]?.text).toMatch(/^….*src\/cart\.ts: rounding\(total\) y.*…$/u);
    expect(items[1]?.text.length).toBeLessThan(210);
    const first = (await stage.client.records('shop/coder#main')).items;
    expect(items.map(({ seq, at }) => [seq, at])).toEqual(
      items.map(({ seq }) => [seq, first.find((record) => record.seq === seq)?.at]),
    );
    expect([next, looked > 5, lookedBackTo]).toEqual([null, true, first[0]?.at]);
    const found = async (q: string): Promise<number> => (await stage.client.search('shop/coder#main', { q })).items.length;
    // Without words, the search returns every message of a time.
    const [asked, , , answered] = first.map(({ at }) => at);
    const between = await stage.client.search('shop/coder#main', { from: asked ?? 0, to: (answered ?? 0) + 1 });
    expect(between.items.map(({ type }) => type)).toEqual(
      first
        .filter(({ at }) => at <= (answered ?? 0))
        .map(({ body }) => body.type)
        .toReversed(),
    );
    await expect(stage.client.search('shop/coder#main', {})).rejects.toThrow(
      'the search is empty; write words in q, or a time in from or to',
    );
    expect([await found('twice rounding'), await found('twice cart'), await found('rounding main'), await found('%')]).toEqual([
      1, 0, 0, 0,
    ]);
  },
);

verifies('server:search', 'a log of 12,000 records is searched in parts, and each hit comes once', async () => {
  await using stage = await Stage.open({ db: 'memory:' });
  const drafts = Array.from({ length: 12_000 }, (_, n) => ({
    type: 'chat_response' as const,
    conversation: main,
    message: n % 3_000 === 7 ? `needle ${n}` : `hay ${n}`,
  }));
  for (let n = 0; n < drafts.length; n += 500) await stage.inbox.store.append(LOG, drafts.slice(n, n + 500));
  const { hits, pages } = await all((before) =>
    stage.client.search('shop/coder#main', { q: 'needle', ...(before === undefined ? {} : { before }) }),
  );
  expect(hits.map(({ text }) => text)).toEqual(['needle 9007', 'needle 6007', 'needle 3007', 'needle 7']);
  expect(pages.length).toBeGreaterThan(1);
  expect(Math.max(...pages.map(({ looked }) => looked))).toBeLessThanOrEqual(5_000);
  expect(pages.slice(0, -1).every(({ lookedBackTo }) => lookedBackTo !== null)).toBe(true);
  const byOne = await all((before) =>
    stage.client.search('shop/coder#main', { q: 'needle', limit: 1, ...(before === undefined ? {} : { before }) }),
  );
  expect(byOne.hits).toEqual(hits);
});

verifies(
  'server:search',
  'a search finds notifications of all agents or of one agent, in parts that say how far back they reach',
  async () => {
    await using stage = await Stage.open({ db: 'memory:' });
    for (let n = 0; n < 30; n++)
      await stage.client.queue({
        to: `shop/agent-${n % 3}`,
        kind: n % 10 === 0 ? 'deploy.failed' : 'ci.finished',
        message: n % 7 === 0 ? `Staging is down (${n})` : `green ${n}`,
        data: { run: `r-${n}` },
      });
    const found = async (query: { q: string; log?: string }): Promise<string[]> =>
      (await stage.client.notifications(query)).items.map(({ message }) => message);
    expect(await found({ q: 'staging DOWN' })).toEqual([28, 21, 14, 7, 0].map((n) => `Staging is down (${n})`));
    expect(await found({ q: 'staging', log: 'shop/agent-0' })).toEqual(['Staging is down (21)', 'Staging is down (0)']);
    expect(await found({ q: 'deploy.failed green' })).toEqual(['green 20', 'green 10']);
    expect(await found({ q: 'r-13' })).toEqual(['green 13']);
    const id = (await stage.client.notifications({ q: 'r-13' })).items[0]?.id ?? '';
    expect([await found({ q: id }), await found({ q: id.slice(0, -1) })]).toEqual([['green 13'], []]);
    const page = await stage.client.notifications({ q: 'staging', limit: 2 });
    const [, , older] = (await stage.client.notifications({ q: 'staging' })).items;
    expect([page.items.length, page.lookedBackTo !== undefined]).toEqual([2, true]);
    expect(page.lookedBackTo ?? 0).toBeGreaterThanOrEqual(older?.at ?? Number.POSITIVE_INFINITY);
    const rest = await stage.client.notifications({ q: 'staging', before: page.next ?? '' });
    expect(rest.items.map(({ message }) => message)).toEqual([14, 7, 0].map((n) => `Staging is down (${n})`));
    expect([rest.next, rest.lookedBackTo]).toEqual([null, undefined]);
  },
);

verifies(
  'server:tokens',
  "the list of another project exceeds the rights of an agent's token, and the error says so",
  async () => {
    await using stage = await Stage.open({ db: 'memory:' });
    const one = await stage.as({ kind: 'agent', project: 'shop', agent: 'coder' });
    for (const path of ['notifications', 'records', 'mutes', 'activity', 'stream']) {
      const headers = { authorization: `Bearer ${one.token}` };
      const response = await stage.raw(`/api/${path}?project=docs`, { headers });
      expect([path, response.status, ((await response.json()) as { detail: string }).detail]).toEqual([
        path,
        403,
        'reading project docs exceeds the rights of the agent token "a agent", which is for shop/coder; use another token',
      ]);
      if (path !== 'stream') expect((await stage.raw(`/api/${path}?project=shop`, { headers })).status).toBe(200);
    }
  },
);

verifies('server:search', 'a token finds only records that it may read, and an empty search is refused', async () => {
  await using stage = await Stage.open({ db: 'memory:' });
  await stage.inbox.conversation('shop/coder#main').record([{ type: 'chat_response', message: 'the secret' }]);
  await stage.inbox.conversation('shop/coder#other').record([{ type: 'chat_response', message: 'the secret of another' }]);
  const docs = await stage.as({ kind: 'project', project: 'docs' });
  const send = await stage.as({ kind: 'send', project: 'shop' });
  const one = await stage.as({ kind: 'agent', project: 'shop', agent: 'coder', conversation: 'main' });
  for (const client of [docs, send])
    await expect(client.search('shop/coder#main', { q: 'secret' })).rejects.toMatchObject({ status: 403 });
  await expect(one.search('shop/coder#other', { q: 'secret' })).rejects.toMatchObject({ status: 403 });
  expect((await one.search('shop/coder#main', { q: 'secret' })).items.map(({ text }) => text)).toEqual(['the secret']);
  for (const q of [' ', '', 'x'.repeat(201)])
    await expect(stage.client.search('shop/coder#main', { q })).rejects.toMatchObject({ status: 400, field: 'q' });
  await expect(stage.client.notifications({ q: ' ' })).rejects.toMatchObject({ status: 400, field: 'q' });
});
