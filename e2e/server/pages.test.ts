/** Tests lists of large records: each page is bounded in bytes, and all pages together contain each record once. */
import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { logKey } from '../../src/core/address.ts';
import { proves } from '../verifies.ts';
import { Stage } from './stage.ts';

const MOST = 512 * 1024;
/** The length of a message, in characters. Nine such messages exceed a page. */
const LARGE = 60_000;
const N = 60;
const LOGS = ['shop/coder', 'shop/tester'];

let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open();
  for (let n = 0; n < N; n++) {
    const [project = '', agent = ''] = (LOGS[n % 2] ?? '').split('/');
    await stage.inbox.store.append(logKey(project, agent), [
      {
        type: 'system_notification_queued',
        id: `n${n}`,
        kind: { source: 'ci', name: 'failed' },
        message: `number ${n} ${'x'.repeat(LARGE)}`,
      },
    ]);
  }
  // One record is larger than a page.
  await stage.inbox.store.append(logKey('shop', 'coder'), [
    { type: 'tool_call_response', conversation: 'main', id: 'huge', content: 'y'.repeat(2 * MOST), is_error: false } as never,
  ]);
});
afterAll(() => stage[Symbol.asyncDispose]());

type Page = { readonly items: readonly Record<string, unknown>[]; readonly next: string | null };

/**
 * Returns every page, starting with the first. Checks that the size of each page is bounded, unless the page contains a single
 * item.
 */
async function pages(path: string, cursor: string): Promise<readonly (readonly Record<string, unknown>[])[]> {
  const all: (readonly Record<string, unknown>[])[] = [];
  for (let next: string | null = ''; next !== null;) {
    const response = await stage.raw(`${path}${next === '' ? '' : `&${cursor}=${next}`}`);
    expect(response.status).toBe(200);
    const text = await response.text();
    const page = JSON.parse(text) as Page;
    if (page.items.length > 1) expect(text.length).toBeLessThan(MOST + 4_096);
    expect(page.next).not.toBe(next);
    all.push(page.items);
    next = page.next;
    expect(all.length).toBeLessThan(200);
  }
  return all;
}

const NEWEST_FIRST = Array.from({ length: N }, (_, n) => `n${N - 1 - n}`);

describe('a list of large records', () => {
  it.each([
    ['of an agent', '/api/notifications?log=shop/coder&limit=200', NEWEST_FIRST.filter((id) => Number(id.slice(1)) % 2 === 0)],
    ['of a project', '/api/notifications?project=shop&limit=200', NEWEST_FIRST],
    ['of a time, over several agents', '/api/notifications?project=shop&limit=200&from=1&by=queued', NEWEST_FIRST],
    ['that wait', '/api/notifications?project=shop&limit=200&by=waiting&state=open', NEWEST_FIRST],
  ])('notifications %s are on pages of at most 512 kB, each exactly once', async (_of, path, expected) => {
    proves('server:pages');
    const all = await pages(path, 'before');
    expect(all.flat().map(({ id }) => id)).toEqual(expected);
    expect(all.length).toBeGreaterThanOrEqual(Math.ceil((expected.length * LARGE) / MOST));
  });

  it.each([
    ['oldest first', '', 'after'],
    ['newest first', '&newest=true', 'before'],
  ])('a log that is read %s has a separate page for a record that is larger than a page', async (_order, query, cursor) => {
    proves('server:pages');
    const all = await pages(`/api/records?log=shop/coder&limit=500${query}`, cursor);
    const seqs = all.flat().map(({ seq }) => Number(seq));
    const stored = await stage.inbox.store.read({ log: logKey('shop', 'coder'), limit: 1_000 });
    expect(seqs.toSorted((a, b) => a - b)).toEqual(stored.map(({ seq }) => seq));
    expect(all.filter((page) => page.some(({ body }) => (body as { id?: string }).id === 'huge'))).toEqual([[expect.anything()]]);
  });

  it('a page of small records has the requested length', async () => {
    proves('server:pages');
    const log = logKey('shop', 'small');
    await stage.inbox.store.append(
      log,
      Array.from({ length: 700 }, () => ({ type: 'turn_start', conversation: 'main' }) as never),
    );
    const all = await pages('/api/records?log=shop/small&limit=500', 'after');
    expect(all.map((page) => page.length)).toEqual([500, 200]);
  });
});
