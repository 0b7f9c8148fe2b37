/** Tests `earpiece migrate` with wrong sources and targets, damaged data and unavailable servers. */
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { LOG, queued } from '../../src/stores/contract/drafts.ts';
import { openStore } from '../../src/stores/open.ts';
import { type Ran, Shell } from '../cli/shell.ts';
import { proves } from '../verifies.ts';
import { freePort, PASSWORD, type PostgresServer, startPostgres } from './postgres-server.ts';

let postgres: PostgresServer;
let shell: Shell;
beforeAll(async () => {
  postgres = await startPostgres();
  shell = new Shell();
});
afterAll(async () => {
  await shell[Symbol.asyncDispose]();
  await postgres.remove();
});

let made = 0;
const file = (): string => join(shell.folder, `file-${made++}.db`);
const schema = (): string => `${postgres.url}?schema=r${made++}`;

/** Makes a store with these notifications. */
async function stored(url: string, ...ids: readonly string[]): Promise<string> {
  const store = await openStore(url);
  for (const id of ids) await store.append(LOG, [queued(id)]);
  await store.close();
  return url;
}

async function idsIn(url: string): Promise<unknown[]> {
  const store = await openStore(url);
  try {
    return (await store.read({})).map(({ body }) => (body as { id?: unknown }).id);
  } finally {
    await store.close();
  }
}

const migrate = (...args: readonly string[]): Promise<Ran> => shell.run(['migrate', ...args]);
const interrupted = (fault: string, from: string, to: string): Promise<Ran> =>
  shell.run(['migrate', '--from', from, '--to', to], { env: { EARPIECE_FAULT: fault } });

/** Expects that the command is refused with this code and text, and shows neither a password nor a stack trace. */
async function refused(args: readonly string[], code: number, text: string | RegExp): Promise<void> {
  const ran = await migrate(...args);
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringMatching(text)]);
  expect(ran.stderr + ran.stdout).not.toContain(PASSWORD);
  expect(ran.stderr).not.toContain('    at ');
}

test('wrong URLs are refused before anything is made', async () => {
  proves('store:migrate-refused');
  const from = await stored(file(), 'a');
  const cases: readonly (readonly [readonly string[], number, string])[] = [
    [['--from', from], 2, '--to is missing'],
    [['--from', from, '--to', from], 2, `--from and --to both name sqlite ${from}: name another database with --to`],
    [['--from', from, '--to', ''], 2, '--to names no database'],
    [['--from', from, '--to', 'memory:'], 2, '--to names a database in memory, which ends with its process'],
    [['--from', from, '--to', 'mysql://ear:s3cret@db/x'], 2, '--to begins with "mysql:", which names no store'],
    [['--from', from, '--to', 'postgres://ear:s3cret@db:x'], 2, 'the URL of the PostgreSQL database cannot be read'],
    [['--from', from, '--to', 'nats://ear:s3cret@'], 2, 'the URL of the NATS servers cannot be read'],
    [
      ['--from', join(shell.folder, 'nope.db'), '--to', file()],
      7,
      'there is no Earpiece database at sqlite .*/nope.db: correct --from',
    ],
    [
      ['--from', `${postgres.url}?schema=nope`, '--to', file()],
      7,
      'there is no Earpiece database at postgres \\S+ nope: correct --from',
    ],
    [['--from', from, '--db', from, '--to', file()], 2, 'give either --from or --db, got both: both options name the source'],
    [
      ['--from', shell.folder, '--to', file()],
      6,
      `is a folder, not a database: name a file in that folder, e.g. ${shell.folder}/`,
    ],
    [['--from', from, '--to', shell.folder], 6, `is a folder, not a database: name a file in that folder, e.g. ${shell.folder}/`],
    [['--from', import.meta.filename, '--to', file()], 6, 'is not an SQLite database .*: name another file with --from'],
    [['--from', from, '--cancel'], 7, 'is not being migrated, so there is nothing to cancel; leave --cancel out'],
  ];
  for (const [args, code, text] of cases) await refused(args, code, new RegExp(text, 'u'));
  expect(await idsIn(from)).toEqual(['a']);
  expect(existsSync(join(shell.folder, 'nope.db'))).toBe(false);
});

test('a target with data is refused, and the error has its number of records; two names of one store are refused', async () => {
  proves('store:migrate-refused');
  const [from, full] = [await stored(file(), 'a'), await stored(schema(), 'b', 'c')];
  await refused(
    ['--from', from, '--to', full],
    12,
    /^earpiece: postgres \S+ r\d+ is not empty, but holds 2 records; name an empty database with --to/u,
  );
  const link = file();
  symlinkSync(from, link);
  await refused(['--from', from, '--to', link], 12, /is not empty, but holds 1 records/u);
  const empty = await stored(file());
  const other = file();
  symlinkSync(empty, other);
  await refused(['--from', empty, '--to', other], 2, /are the same database: name another database with --to/u);
  expect([await idsIn(from), await idsIn(full), await idsIn(empty)]).toEqual([['a'], ['b', 'c'], []]);
});

test('a PostgreSQL database that earpiece serve uses is not migrated without --yes', async () => {
  proves('store:migrate-used');
  const from = await stored(schema(), 'a');
  const server = shell.begin(['--json', 'serve', '--db', from, '--port', '0']);
  onTestFinished(() => void server.process.kill('SIGKILL'));
  await server.shows('"url"');
  await refused(['--from', from, '--to', file()], 2, /is in use by a program on \S+; from the start of the migration/u);
  server.process.kill('SIGINT');
  await server.ended;
  expect((await migrate('--from', from, '--to', file())).code).toBe(0);
});

test('an unfinished migration continues only with its own source and target', async () => {
  proves('store:migrate-refused', 'store:migrate-closed');
  const [from, to] = [await stored(file(), 'a', 'b'), schema()];
  expect((await interrupted('move.page', from, to)).code).toBe(null);
  await refused(
    ['--from', from, '--to', file()],
    6,
    /is being migrated to postgres:\S+ .*or cancel with earpiece migrate .* --cancel/u,
  );
  await refused(['--from', await stored(file(), 'x'), '--to', to], 6, /holds an unfinished migration/u);
  await refused(['--from', to, '--to', file()], 6, /holds an unfinished migration/u);
  // Other commands print the same reason.
  const inbox = await shell.run(['inbox', '--all'], { env: { EARPIECE_DB: from } });
  expect([inbox.code, inbox.stderr]).toEqual([6, expect.stringContaining(' is being migrated to postgres:')]);
  expect((await migrate('--from', from, '--to', to)).code).toBe(0);
  await refused(['--from', from, '--to', to], 6, /was migrated to postgres:\S+ at \S+Z: use the new database/u);
  await refused(['--from', from, '--to', to, '--cancel'], 12, /is finished and cannot be cancelled/u);
  expect(await idsIn(to)).toEqual(['a', 'b']);
});

test('the printed command that goes back to a server has a placeholder that no shell interprets', async () => {
  proves('store:migrate-closed');
  const [from, to] = [schema(), file()];
  expect((await migrate('--from', await stored(file(), 'a'), '--to', from)).code).toBe(0);
  const { code, stdout } = await migrate('--from', from, '--to', to);
  expect([code, /^To go back, .*$/mu.exec(stdout)?.[0]]).toEqual([
    0,
    `To go back, with all later changes: earpiece migrate --from sqlite:${to} --to NEW_DATABASE`,
  ]);
  await refused(['--from', from, '--to', file()], 6, /To go back: earpiece migrate --from \S+ --to NEW_DATABASE$/mu);
});

test('after --cancel, the source accepts writes again and has everything, and the target no longer exists', async () => {
  proves('store:migrate-closed');
  const [from, to] = [await stored(file(), 'a'), schema()];
  expect((await interrupted('move.page', from, to)).code).toBe(null);
  const ran = await migrate('--from', from, '--to', to, '--cancel');
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringMatching(/accepts writes again\npostgres \S+ r\d+ was removed\n$/u)]);
  expect(await idsIn(await stored(from, 'b'))).toEqual(['a', 'b']);
  expect((await migrate('--from', from, '--to', to)).code).toBe(0);
  expect(await idsIn(to)).toEqual(['a', 'b']);
  // The data can also be migrated back, to a new file.
  const back = file();
  expect((await migrate('--from', to, '--to', back)).code).toBe(0);
  expect(await idsIn(back)).toEqual(['a', 'b']);
});

test('a target that another process changed is not opened, and every difference is named', async () => {
  proves('store:migrate-closed');
  const [from, to] = [await stored(file(), 'a', 'b'), schema()];
  expect((await interrupted('move.compared', from, to)).code).toBe(null);
  const admin = new pg.Client(postgres.url);
  await admin.connect();
  const name = new URL(to).searchParams.get('schema');
  await admin.query(`UPDATE ${name}.records SET body = replace(body, 'message of b', 'changed') WHERE seq = 2`);
  await admin.query(`INSERT INTO ${name}.settings (key, value) VALUES ('foreign', '1')`);
  await admin.end();
  const ran = await migrate('--from', from, '--to', to);
  expect([ran.code, ran.stdout]).toEqual([
    8,
    'shop/coder: the 2 records differ\nthe source has 0 rows of setting, the target 1\n',
  ]);
  expect(ran.stderr).toMatch(
    /the target differs from the source \(2 problems\), so no other command can open the target: .* --cancel/u,
  );
  await expect(openStore(to)).rejects.toMatchObject({ code: 'store_refused' });
});

test('a damaged source is refused and accepts writes as before; the error names the damaged record', async () => {
  proves('store:migrate-refused');
  const [unreadable, misfit] = [await stored(file(), 'a', 'b'), await stored(file(), 'a', 'b')];
  const edit = (path: string, sql: string): void => {
    const db = new DatabaseSync(path);
    db.exec(sql);
    db.close();
  };
  edit(unreadable, "UPDATE records SET body = '{\"type' WHERE seq = 2");
  edit(misfit, 'UPDATE items SET gate = 1 WHERE seq = 2');
  const to = file();
  await refused(['--from', unreadable, '--to', to], 6, /is damaged: .*cannot be read/u);
  await refused(
    ['--from', misfit, '--to', to],
    6,
    /is damaged, so nothing was migrated \(shop\/coder: the columns of b contradict/u,
  );
  expect(existsSync(to)).toBe(false);
  expect(await idsIn(misfit)).toEqual(['a', 'b']);
  await stored(misfit, 'c');
});

test('a file of another program or of a newer Earpiece is refused', async () => {
  proves('store:migrate-refused');
  const [from, text, newer] = [await stored(file(), 'a'), file(), await stored(file(), 'a')];
  writeFileSync(text, 'not a database, but a text that is long enough to be read as a header of one, and some more of it\n');
  await refused(['--from', from, '--to', text], 6, /not a database|is damaged|another program/u);
  const db = new DatabaseSync(newer);
  db.exec('PRAGMA user_version = 1999');
  db.close();
  await refused(
    ['--from', newer, '--to', file()],
    6,
    /was written by a newer version of Earpiece \(schema 1999; this version knows schema \d+\): migrate the database with that version/u,
  );
});

test('the error for an unavailable server names it without its password, and a server that stops in the middle loses nothing', async () => {
  proves('store:migrate-refused', 'store:migrate-killed');
  const port = await freePort();
  const from = await stored(file(), 'a', 'b');
  const running = shell.begin(['migrate', '--from', from, '--to', `postgres://ear:${PASSWORD}@127.0.0.1:${port}/x`]);
  const to = schema();
  const other = await stored(file(), 'c');
  expect((await interrupted('move.source_marked', other, to)).code).toBe(null);
  await postgres.stop();
  const [away, stopped] = await Promise.all([running.ended, migrate('--from', other, '--to', to)]);
  for (const { code, stderr } of [away, stopped]) {
    expect([code, stderr]).toEqual([
      6,
      expect.stringMatching(/postgres 127\.0\.0\.1:\d+\/\S+.* did not complete the call within \d+ ms/u),
    ]);
    expect(stderr).not.toContain(PASSWORD);
  }
  await postgres.start();
  expect(await idsIn(from)).toEqual(['a', 'b']);
  expect((await migrate('--from', other, '--to', to)).code).toBe(0);
  expect(await idsIn(to)).toEqual(['c']);
});

test('Ctrl+C stops the command after a page, stderr says how to continue, and the same command continues', async () => {
  proves('store:migrate-killed');
  const from = await stored(file());
  const store = await openStore(from);
  for (let n = 0; n < 40; n++)
    await store.append(
      LOG,
      Array.from({ length: 500 }, (_, k) => queued(`n${n}-${k}`)),
    );
  await store.close();
  const to = schema();
  const running = shell.begin(['migrate', '--json', '--from', from, '--to', to]);
  running.process.stderr.on('data', (text: Buffer) => text.includes('"copy"') && running.process.kill('SIGINT'));
  const { code, stderr, stdout } = await running.ended;
  expect([code, stderr]).toEqual([
    130,
    expect.stringMatching(/stopped at [\d,]+ of 20,000 records: nothing is lost, .*continue with earpiece migrate/u),
  ]);
  expect(JSON.parse(stdout)).toMatchObject({ stopped: true, records: 20_000 });
  const last = await migrate('--json', '--from', from, '--to', to);
  expect(JSON.parse(last.stdout)).toMatchObject({ verified: true, records: 20_000, logs: 1 });
});
