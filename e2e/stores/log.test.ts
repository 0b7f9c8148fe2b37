/** Tests an inbox's records in the log of the default store. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { DEFAULT_POLICY, logKey } from '../../src/core/index.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { openSqliteStore } from '../../src/stores/index.ts';
import { verifies } from '../verifies.ts';

const folder = mkdtempSync(join(tmpdir(), 'earpiece-log-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LOG = logKey('shop', 'coder');
const openInbox = async (path: string): Promise<Inbox> =>
  new Inbox({ store: await openSqliteStore({ path }), policies: { policy: () => DEFAULT_POLICY } });

verifies('log:queued-first', 'a second connection can read a notification as soon as `queue` has resolved', async () => {
  const path = join(folder, 'first.db');
  await using inbox = await openInbox(path);
  await using other = await openInbox(path);
  const { id } = await inbox.queue('shop/coder', { message: 'the build has ended' });
  expect((await other.store.read({ log: LOG })).map(({ body }) => body)).toMatchObject([
    { type: 'system_notification_queued', id, message: 'the build has ended' },
  ]);
});

verifies('log:omits-defaults', 'records omit the level info and empty lists', async () => {
  const path = join(folder, 'rows.db');
  const inbox = await openInbox(path);
  const talk = inbox.conversation('shop/coder');
  await inbox.queue('shop/coder', { message: 'one', level: 'info' });
  await inbox.queue('shop/coder', { message: 'two', level: 'warning' });
  await talk.carry({ type: 'tool_call_response', id: 'c1', content: 'x', is_error: false }, { at: 'tool_result' });
  await talk.carry({ type: 'tool_call_response', id: 'c2', content: 'x', is_error: false }, { at: 'tool_result' });
  const bodies = (await inbox.store.read({ log: LOG })).map(({ body }) => body);
  expect(bodies.map((body) => body.type)).toEqual([
    'system_notification_queued',
    'system_notification_queued',
    'tool_call_response',
    'tool_call_response',
  ]);
  const text = JSON.stringify(bodies);
  await inbox.close();
  expect(text).toContain('"level":"warning"');
  expect(text).not.toMatch(/"level":"info"|:\[\]/u);
});

verifies(
  'store:unread-check',
  'the check for open notifications takes at most 10 ms with 1,000 open notifications and 5,000 records (the fastest of 20)',
  async () => {
    await using inbox = await openInbox(join(folder, 'many.db'));
    const texts = Array.from({ length: 100 }, (_, i) => ({ type: 'chat_response' as const, message: `answer ${i}` }));
    for (let i = 0; i < 40; i++) await inbox.store.append(LOG, texts);
    for (let i = 0; i < 1_000; i++) await inbox.queue('shop/coder', { message: `m${i}`, level: 'error' });
    const took: number[] = [];
    for (let i = 0; i < 20; i++) {
      const started = performance.now();
      expect(await inbox.store.countOpen(LOG)).toBe(1_000);
      expect(await inbox.store.items(LOG, { kind: 'gate' })).toEqual([]);
      took.push(performance.now() - started);
    }
    expect(Math.min(...took)).toBeLessThan(10);
  },
);
