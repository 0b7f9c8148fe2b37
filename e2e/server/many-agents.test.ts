/** Tests the time that a page of the list of agents takes with a large number of agents. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { LogKey } from '../../src/core/address.ts';
import type { NotificationId } from '../../src/core/notification.ts';
import type { Draft } from '../../src/core/records.ts';
import { AGENTS } from '../../src/stores/sqlite/agents.ts';
import { openStore } from '../../src/stores/index.ts';
import { verifies } from '../verifies.ts';
import { Stage } from './stage.ts';

const AGENTS_THERE = 10_000;
const OPEN_EACH = 100;
const PAGE = 50;

describe('10,000 agents with 100 open notifications each', () => {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-many-'));
  const db = join(folder, 'many.db');

  beforeAll(async () => {
    await fill(db);
  }, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  verifies(
    'server:many-agents',
    async () => {
      await using stage = await Stage.open({ db });
      const { client } = stage;
      const took: number[] = [];
      const seen: string[] = [];
      let after: string | null = null;
      for (let page = 0; page < 20; page++) {
        const started = performance.now();
        const found: Awaited<ReturnType<typeof client.agents>> = await client.agents({
          project: 'shop',
          limit: PAGE,
          ...(after === null ? {} : { after }),
        });
        took.push(performance.now() - started);
        expect(found.items).toHaveLength(PAGE);
        for (const { log, open } of found.items) {
          seen.push(log);
          expect(open).toEqual({ info: 40, warning: 30, error: 20, critical: 10 });
        }
        after = found.next;
      }
      expect(new Set(seen).size).toBe(20 * PAGE);
      expect(seen).toEqual(seen.toSorted((a, b) => (a < b ? -1 : 1)));
      // A page reads 5,000 of 1,000,000 items. So even over HTTP, the page takes less time than a walk over all items in the same
      // run.
      expect(took.toSorted((a, b) => a - b)[10]).toBeLessThan(scanMs());
      expect((await client.agents({ project: 'shop', after: 'shop/agent-09998', limit: PAGE })).items).toMatchObject([
        { log: 'shop/agent-09999' },
      ]);
    },
    60_000,
  );

  /** Counts the open items by level in a walk over all items. Returns the time of this walk, in ms. */
  function scanMs(): number {
    const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
    const file = new DatabaseSync(db, { readOnly: true });
    const started = performance.now();
    file.prepare('SELECT level, count(*) FROM items NOT INDEXED WHERE phase = 0 GROUP BY level').all();
    const took = performance.now() - started;
    file.close();
    return took;
  }

  verifies(
    'server:many-agents',
    'the query plan finds agents by the index of names, and their open items by the primary key',
    async () => {
      const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
      const file = new DatabaseSync(db, { readOnly: true });
      const details = file
        .prepare(`EXPLAIN QUERY PLAN ${AGENTS}`)
        .all()
        .map((row) => String(row['detail']));
      const items = file.prepare('SELECT count(*) AS n FROM items WHERE phase = 0').get() as { n: number };
      file.close();
      expect(items.n).toBe(AGENTS_THERE * OPEN_EACH);
      expect(details.filter((line) => line.startsWith('SCAN'))).toEqual(['SCAN page', 'SCAN (subquery-5)', 'SCAN (subquery-9)']);
      expect(details).toContain('SEARCH l USING COVERING INDEX sqlite_autoindex_logs_1 (key>? AND key<?)');
      expect(details).toContain('SEARCH i USING PRIMARY KEY (log=? AND phase=?)');
    },
  );
});

/**
 * Fills a database. The store writes the first agent, and the other agents are copies of its rows, because 10,000 appends would
 * take longer than the test. A page reads only the first record of each agent, so only the last copy has all records.
 */
async function fill(path: string): Promise<void> {
  const levels = ['info', 'info', 'info', 'info', 'warning', 'warning', 'warning', 'error', 'error', 'critical'] as const;
  const store = await openStore(path);
  await store.append(
    nameOf(0),
    Array.from({ length: OPEN_EACH }, (_, i): Draft => {
      const level = levels[i % 10] ?? 'info';
      const notification = { id: `n${i}` as NotificationId, kind: { source: 'ci', name: 'failed' }, message: `failed ${i}` };
      return { type: 'system_notification_queued', ...notification, ...(level === 'info' ? {} : { level }) };
    }),
  );
  await store.close();

  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const file = new DatabaseSync(path);
  file.exec(`PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; BEGIN;
    CREATE TEMP TABLE copies (n INTEGER PRIMARY KEY);
    WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n + 1 < ${AGENTS_THERE}) INSERT INTO copies SELECT n FROM up;
    INSERT INTO logs (id, key, project) SELECT 1 + n, printf('shop/agent-%05d', n), 'shop' FROM copies;
    INSERT INTO records (seq, log, at, type, conversation, notification, body)
      SELECT seq + n * ${OPEN_EACH}, 1 + n, at, type, conversation, notification, body FROM copies, records
      WHERE log = 1 AND (seq = 1 OR n = ${AGENTS_THERE - 1});
    INSERT INTO items (log, phase, seq, audience, level, gate, key, carrier, taken_by, closed_at, source, state)
      SELECT 1 + n, phase, seq + n * ${OPEN_EACH}, audience, level, gate, key, carrier, taken_by, closed_at, source, state
      FROM copies, items WHERE log = 1;
    COMMIT;`);
  file.close();

  const copied = await openStore(path);
  const messages = async (n: number): Promise<string[]> =>
    (await copied.items(nameOf(n), { kind: 'open' })).map(({ notification }) => notification.message);
  expect(await messages(AGENTS_THERE - 1)).toEqual(await messages(0));
  await copied.close();
}

const nameOf = (n: number): LogKey => `shop/agent-${String(n).padStart(5, '0')}` as LogKey;
