import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { armFaults } from '../../core/faults.ts';
import { AGENTS } from './agents.ts';
import { APPLICATION_ID, MAJOR, STEPS, VERSION } from './migrations.ts';
import { POSITIONS } from './records.ts';
import { ITEMS } from './rows.ts';
import { openSqliteStore } from './store.ts';
import { proves } from '../../../e2e/verifies.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-schema-'));
  path = join(folder, 'e.db');
});
afterEach(() => {
  armFaults(undefined);
  rmSync(folder, { recursive: true, force: true });
});

function schemaOf(file: string): string {
  const db = new DatabaseSync(file);
  const rows = db.prepare('SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name').all();
  db.close();
  return `${rows.map((row) => `${String(row['sql'])};`).join('\n')}\n`;
}

it('the schema of a new database equals the golden schema', async () => {
  proves('store:schema');
  await (await openSqliteStore({ path })).close();
  await expect(schemaOf(path)).toMatchFileSnapshot('golden/schema.sql');
});

it('one query lists a page of agents, and reads each table by an index', async () => {
  await (await openSqliteStore({ path })).close();
  const db = new DatabaseSync(path);
  const details = db
    .prepare(`EXPLAIN QUERY PLAN ${AGENTS}`)
    .all()
    .map((row) => String(row['detail']));
  db.close();
  // The query scans only the page itself, and the few levels and conversations of one agent.
  expect(details.filter((line) => line.startsWith('SCAN'))).toEqual(['SCAN page', 'SCAN (subquery-5)', 'SCAN (subquery-9)']);
  expect(details.filter((line) => line.startsWith('SEARCH'))).toEqual([
    'SEARCH l USING COVERING INDEX sqlite_autoindex_logs_1 (key>? AND key<?)',
    'SEARCH i USING PRIMARY KEY (log=?)',
    'SEARCH c USING PRIMARY KEY (log=?)',
    'SEARCH r USING INDEX records_of_log (log=?)',
    'SEARCH i USING PRIMARY KEY (log=? AND phase=?)',
    'SEARCH i USING PRIMARY KEY (log=? AND phase=?)',
    'SEARCH r USING INTEGER PRIMARY KEY (rowid=?)',
    'SEARCH i USING COVERING INDEX items_gate (log=?)',
    'SEARCH r USING INTEGER PRIMARY KEY (rowid=?)',
    'SEARCH c USING PRIMARY KEY (log=?)',
    'SEARCH r USING INDEX records_of_log (log=?)',
  ]);
});

it('the header of a database names Earpiece as its application, and the version of the schema', async () => {
  await (await openSqliteStore({ path })).close();
  const db = new DatabaseSync(path);
  expect(db.prepare('PRAGMA application_id').get()).toEqual({ application_id: APPLICATION_ID });
  expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: VERSION });
  expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
  db.close();
});

it('each earlier version of the schema migrates to the golden schema', async () => {
  await (await openSqliteStore({ path })).close();
  const golden = schemaOf(path);
  for (let done = 0; done <= STEPS.length; done++) {
    const file = join(folder, `from${done}.db`);
    const db = new DatabaseSync(file);
    for (const step of STEPS.slice(0, done)) db.exec(step);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MAJOR * 1000 + done}`);
    db.close();
    const store = await openSqliteStore({ path: file });
    expect(await store.verify()).toEqual([]);
    await store.close();
    expect(schemaOf(file)).toBe(golden);
  }
});

it('the schema is made completely or not at all', async () => {
  armFaults((point) => {
    if (point === 'migrate.step') throw new Error('power cut');
  });
  await expect(openSqliteStore({ path })).rejects.toThrow('power cut');
  expect(schemaOf(path)).toBe('\n');
  armFaults(undefined);
  await (await openSqliteStore({ path })).close();
});

it('the open set, the gate, a key, an id and a carrier are read by an index, whatever the length of the log', async () => {
  await (await openSqliteStore({ path })).close();
  const db = new DatabaseSync(path);
  const plan = (sql: string): string =>
    db
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map((row) => String(row['detail']))
      .join('; ');
  const by: Record<Exclude<keyof typeof ITEMS, 'all'>, string> = {
    open: 'SEARCH i USING PRIMARY KEY (log=? AND phase=?)',
    openFor: 'SEARCH i USING PRIMARY KEY (log=? AND phase=?)',
    held: 'SEARCH i USING PRIMARY KEY (log=? AND phase=?)',
    openBefore: 'SEARCH i USING PRIMARY KEY (log=? AND phase=? AND seq<?)',
    unreadBefore: 'SEARCH i USING PRIMARY KEY (log=? AND phase=? AND seq<?)',
    doneBefore: 'SEARCH i USING PRIMARY KEY (log=? AND phase=? AND seq<?)',
    unreadOf: 'SEARCH i USING PRIMARY KEY (log=? AND phase=? AND seq<?)',
    atSeq: 'SEARCH i USING PRIMARY KEY (log=? AND phase=? AND seq=?)',
    closedIn: 'SEARCH i USING INDEX items_closed (log=? AND closed_at>? AND (closed_at,seq)<(?,?))',
    gate: 'SEARCH i USING INDEX items_gate (log=?)',
    gateRead: 'SEARCH i USING INDEX items_gate (log=?)',
    key: 'SEARCH i USING INDEX items_key (log=? AND key=?)',
    carrier: 'SEARCH i USING INDEX items_carrier (carrier=? AND log=?)',
  };
  for (const [name, expected] of Object.entries(by)) {
    const details = plan(ITEMS[name as keyof typeof by]).split('; ');
    const records = ['SEARCH r USING INTEGER PRIMARY KEY (rowid=?)', 'SEARCH s USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN'];
    expect([name, ...details.slice(0, 3).sort()]).toEqual([name, expected, ...records]);
  }
  expect(plan(ITEMS.closedIn)).not.toMatch(/SCAN|TEMP B-TREE/u);
  expect(plan("SELECT seq FROM records WHERE log = 1 AND notification = 'n'")).toMatch(/^SEARCH records USING COVERING INDEX/);
  for (const sql of Object.values(POSITIONS)) {
    const details = plan(sql);
    expect(details).toContain('SEARCH records USING INDEX records_of_log (log=? AND seq>? AND seq<?)');
    expect(details.split('SEARCH items USING PRIMARY KEY (log=? AND phase=? AND seq>? AND seq<?)')).toHaveLength(4);
    expect(details).not.toMatch(/SCAN|TEMP B-TREE/);
  }
  expect(
    plan('SELECT * FROM records WHERE +log IN (SELECT id FROM logs WHERE project = 1) AND seq > 5 ORDER BY seq LIMIT 9'),
  ).toMatch(/^SEARCH records USING INTEGER PRIMARY KEY/);
  db.close();
});
