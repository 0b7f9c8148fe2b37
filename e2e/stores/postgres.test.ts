/**
 * Tests a real server that restarts, fails over, is behind a pooler, requires TLS or refuses: the store keeps its contract.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, connect } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { LogKey } from '../../src/core/address.ts';
import type { Store } from '../../src/core/ports.ts';
import { LOG, offered, OTHER, queued, said } from '../../src/stores/contract/drafts.ts';
import { openStore } from '../../src/stores/open.ts';
import { AGENTS } from '../../src/stores/postgres/agents.ts';
import { STEPS } from '../../src/stores/postgres/migrations.ts';
import { proves } from '../verifies.ts';
import { freePort, PASSWORD, place, type PostgresServer, run, startPooler, startPostgres } from './postgres-server.ts';

let server: PostgresServer;
let admin: pg.Pool;
beforeAll(async () => {
  server = await startPostgres({ durable: true, settings: { wal_level: 'replica', max_wal_senders: '4' } });
  admin = new pg.Pool({ connectionString: server.url, max: 4 });
  admin.on('error', () => {});
});
afterAll(async () => {
  await admin.end();
  await server.remove();
});

let schemas = 0;
const address = (url = server.url): string => `${url}?schema=t${schemas++}`;

async function withStore<T>(url: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

test('the schema equals the golden file, and opening the database again changes nothing', async () => {
  proves('store:postgres-schema');
  const dump = (): string =>
    run('pg_dump', ['--schema-only', '--no-owner', '--schema=earpiece', '-d', server.url])
      .split('\n')
      .filter((line) => line !== '' && !/^(?:--|SET |SELECT |\\)/u.test(line))
      .join('\n');
  await withStore(server.url, async () => {});
  const made = dump();
  await withStore(server.url, async () => {});
  expect(dump()).toBe(made);
  await expect(`${made}\n`).toMatchFileSnapshot('../../src/stores/postgres/golden/schema.sql');
});

test('processes that open a new database at the same time create its tables once', async () => {
  proves('store:postgres-schema');
  const url = address();
  const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(url)));
  const secrets = await Promise.all(stores.map((store) => store.secret()));
  expect(new Set(secrets).size).toBe(1);
  await Promise.all(stores.map((store) => store.close()));
});

test('tables of an earlier version keep their positions and times', async () => {
  proves('store:postgres-schema');
  const url = address();
  const schema = new URL(url).searchParams.get('schema') ?? '';
  const former = [
    'CREATE SCHEMA @@',
    'CREATE TABLE @meta (key text COLLATE "C" PRIMARY KEY, value text NOT NULL)',
    "INSERT INTO @meta VALUES ('version', '1001')",
    STEPS[0] as string,
    "INSERT INTO @logs VALUES ('shop/coder')",
    `INSERT INTO @records (log, seq, at, type, loose, body) VALUES ('${LOG}', 7, 9000000000000, 'x', false, '{"type":"x"}')`,
    'UPDATE @head SET seq = 7, at = 9000000000000',
  ];
  for (const step of former) await admin.query(step.replaceAll('@@', schema).replaceAll(/@([a-z]+)/gu, `${schema}.$1`));
  await withStore(url, async (store) => {
    expect(await store.head()).toBe(7);
    expect(await store.append(LOG, [said('next')])).toMatchObject({ records: [{ seq: 8, at: 9_000_000_000_000 }] });
    expect((await store.read({})).map(({ seq }) => seq)).toEqual([7, 8]);
  });
  expect((await admin.query(`SELECT to_regclass('${schema}.head') AS head`)).rows).toEqual([{ head: null }]);
});

test('a position becomes visible after every lower position, also across logs; a late writer delays no other log', async () => {
  proves('store:postgres');
  const url = address();
  await withStore(url, async (store) => {
    const schema = new URL(url).searchParams.get('schema');
    // A writer of LOG gets a position, and then waits before its commit.
    await admin.query(
      `CREATE FUNCTION ${schema}.late() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN IF NEW.log = '${LOG}' THEN PERFORM pg_advisory_xact_lock(4711); END IF; RETURN NEW; END $$;
       CREATE TRIGGER late BEFORE INSERT ON ${schema}.records FOR EACH ROW EXECUTE FUNCTION ${schema}.late()`,
    );
    const holder = await admin.connect();
    await holder.query('BEGIN; SELECT pg_advisory_xact_lock(4711)');
    const late = store.append(LOG, [said('late')], { withinMs: 60_000 });
    await vi.waitUntil(async () => (await waiting("wait_event = 'advisory'")) > 0);
    expect(await store.append(OTHER, [said('early')])).toMatchObject({ records: [{ seq: 2 }] });
    expect(await store.read({ log: OTHER })).toMatchObject([{ seq: 2 }]);
    const [all, head, changed] = [store.read({}), store.head(), store.changed(0)];
    await vi.waitUntil(async () => (await waiting("query LIKE '%settled(%' AND state = 'active'")) >= 3);
    // A reader fails at its time limit.
    await expect(store.read({}, { withinMs: 200 })).rejects.toMatchObject({ code: 'store_unavailable', retryable: true });
    await holder.query('COMMIT');
    holder.release();
    expect(await late).toMatchObject({ records: [{ seq: 1 }] });
    expect((await all).map(({ seq }) => seq)).toEqual([1, 2]);
    expect([await head, await changed]).toEqual([2, 2]);
  });
});

const waiting = async (what: string): Promise<number> =>
  (
    await admin.query(
      `SELECT 1 FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = 'earpiece' AND ${what}`,
    )
  ).rows.length;

test('if several processes offer one notification at the same time, one succeeds', async () => {
  proves('store:postgres');
  const url = address();
  const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(url)));
  const [first] = stores as [Store];
  const ids = Array.from({ length: 40 }, (_, n) => `n${n}`);
  await first.append(
    LOG,
    ids.map((id) => queued(id)),
  );
  const offers = await Promise.all(
    ids.flatMap((id) => stores.map(async (store, n) => (await store.append(LOG, [offered(`c${n}-${id}`, [id])])).kind)),
  );
  expect(offers.filter((kind) => kind === 'appended')).toHaveLength(ids.length);
  const swaps = await Promise.all(
    ids.flatMap((key) =>
      stores.map(async (store, n) => (await store.append(LOG, [said(key)], { swaps: [{ key, from: undefined, to: n }] })).kind),
    ),
  );
  expect(swaps.filter((kind) => kind === 'appended')).toHaveLength(ids.length);
  const again = await Promise.all(stores.map((store) => store.append(LOG, [queued('twice')])));
  expect(again.map(({ kind }) => kind).toSorted()).toEqual(['appended', 'duplicate', 'duplicate', 'duplicate']);
  expect(await first.verify()).toEqual([]);
  await Promise.all(stores.map((store) => store.close()));
});

test('a waiting reader learns of an append by NOTIFY, or by polling without NOTIFY', async () => {
  proves('store:postgres');
  const url = address();
  await withStore(url, async (reader) => {
    const other = await openStore(url);
    const schema = new URL(url).searchParams.get('schema');
    const client = await admin.connect();
    await client.query(`LISTEN earpiece_${schema}`);
    const heard = once(client, 'notification');
    const waiting = reader.changed(0);
    await vi.waitUntil(async () => (await listeners()) > 0);
    await other.append(LOG, [said('x')]);
    expect(await waiting).toBe(1);
    expect(await heard).toMatchObject([{ payload: '1' }]);
    await client.query('UNLISTEN *');
    client.release();
    await other.close();

    // The server sends no notification, as behind a pooler or after an unnoticed loss of the connection.
    const silent = reader.changed(1);
    await vi.waitUntil(async () => (await listeners()) > 0);
    // When `head` resolves, the query that follows LISTEN has been answered.
    await reader.head();
    await admin.query(
      `INSERT INTO ${schema}.records (log, seq, at, type, loose, body)
       VALUES ('${LOG}', nextval('${schema}.positions'), 1, 'x', false, '{"type":"x"}')`,
    );
    expect(await silent).toBe(2);
    // When the wait ends, the listener ends too.
    await vi.waitUntil(async () => (await listeners()) === 0);
  });
});

const listeners = async (): Promise<number> =>
  (await admin.query("SELECT 1 FROM pg_stat_activity WHERE application_name = 'earpiece listener' AND query LIKE 'LISTEN%'")).rows
    .length;

test('calls wait for a server that restarts, and no append is lost or duplicated', async () => {
  proves('store:postgres-failover');
  await withStore(address(), async (store) => {
    await store.append(LOG, [queued('before')]);
    const appends: Promise<unknown>[] = [];
    for (let i = 0; i < 20; i++) appends.push(store.append(`shop/a${i % 4}` as LogKey, [queued(`n${i}`)], { withinMs: 60_000 }));
    await server.stop();
    for (let i = 20; i < 30; i++) appends.push(store.append(LOG, [queued(`n${i}`)], { withinMs: 60_000 }));
    await server.start();
    expect((await Promise.all(appends)).map((one) => (one as { kind: string }).kind)).toEqual(
      Array.from({ length: 30 }, () => 'appended'),
    );
    expect(await store.read({ limit: 99 })).toHaveLength(31);
    expect(await store.verify()).toEqual([]);
  });
});

test('if the primary is lost, its promoted standby has every acknowledged record', async () => {
  proves('store:postgres-failover');
  const standby = await startPostgres({ durable: true, standbyOf: server });
  await admin.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
  await admin.query('SELECT pg_reload_conf()');
  await vi.waitUntil(
    async () => (await admin.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).rows.length > 0,
  );
  // The URL does not change, because a proxy leads to the current primary.
  let target = server.port;
  const proxy = await proxyTo(() => target);
  const url = address(server.url.replace(String(server.port), String(proxy.port)));
  try {
    await withStore(url, async (store) => {
      const acknowledged: string[] = [];
      const writing = (async () => {
        for (let i = 0; i < 40; i++) {
          const appended = await store.append(LOG, [queued(`n${i}`)], { withinMs: 60_000 });
          expect(appended.kind).toBe('appended');
          acknowledged.push(`n${i}`);
        }
      })();
      await vi.waitUntil(() => acknowledged.length > 5);
      await server.stop('SIGKILL');
      target = standby.port;
      run('pg_ctl', ['promote', '-D', standby.data]);
      await writing;
      const stored = (await store.read({ log: LOG })).map(({ body }) => (body as { id?: string }).id);
      expect(stored).toEqual(acknowledged);
      expect(await store.verify()).toEqual([]);
    });
  } finally {
    proxy.close();
    await standby.remove();
    await server.start();
    await admin.query('ALTER SYSTEM RESET synchronous_standby_names').catch(() => {});
    await admin.query('SELECT pg_reload_conf()').catch(() => {});
  }
});

test('a URL with several hosts reaches the primary, before and after a failover', async () => {
  proves('store:postgres-hosts');
  const primary = await startPostgres({ durable: true, settings: { wal_level: 'replica', max_wal_senders: '4' } });
  const standby = await startPostgres({ durable: true, standbyOf: primary });
  try {
    // The standby is first in the URL.
    const url = address(standby.url.replace(`127.0.0.1:${standby.port}`, `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`));
    await withStore(url, async (store) => {
      await store.append(LOG, [queued('before')]);
      // A standby might not have this record yet.
      expect(await store.head()).toBe(1);
      await vi.waitUntil(
        async () =>
          run('psql', [
            '-At',
            '-c',
            `SELECT count(*) FROM "${new URL(url.replace(/,[^/]*/u, '')).searchParams.get('schema')}".records`,
            standby.url,
          ]).trim() === '1',
      );
      await primary.stop('SIGKILL');
      run('pg_ctl', ['promote', '-D', standby.data]);
      expect(await store.append(LOG, [queued('after')], { withinMs: 60_000 })).toMatchObject({ kind: 'appended' });
      expect(await store.countOpen(LOG)).toBe(2);
    });
  } finally {
    await standby.remove();
    await primary.remove();
  }
});

test('a call whose COMMIT got no answer takes effect once', async () => {
  proves('store:postgres-failover');
  let cut = false;
  // The commit reaches the server, but its answer is lost.
  const proxy = await proxyTo(
    () => server.port,
    (sent) => cut && (sent.includes('COMMIT\0') || /[._](?:append|queue)[(_]/u.test(sent.toString('latin1'))),
  );
  const url = address(server.url.replace(String(server.port), String(proxy.port)));
  try {
    await withStore(url, async (store) => {
      const cutOnce = async <T>(call: () => Promise<T>): Promise<T> => {
        cut = true;
        const answered = call();
        await vi.waitUntil(() => proxy.cuts() > 0);
        cut = false;
        proxy.forget();
        return answered;
      };
      const appended = await cutOnce(() => store.append(LOG, [queued('a'), said('x')]));
      expect(appended).toMatchObject({ kind: 'appended', records: [{ seq: 1 }, { seq: 2 }] });
      expect(await cutOnce(() => store.swapSetting('s', undefined, 1))).toBe(true);
      expect(await cutOnce(() => store.touch({ log: LOG, conversation: 'x' as never, turnStarted: true }))).toMatchObject({
        turns: 1,
      });
      expect(await store.head()).toBe(2);
      expect(await store.presence({})).toMatchObject([{ turns: 1 }]);
    });
  } finally {
    proxy.close();
  }
});

test('an append that reaches the server after its retry writes nothing', async () => {
  proves('store:postgres-failover');
  let holds = false;
  const held: (() => Promise<unknown>)[] = [];
  // The connection breaks while the first call is in flight.
  const proxy = createServer((client) => {
    const upstream = connect(server.port, '127.0.0.1');
    client.on('error', () => {});
    upstream.on('error', () => {}).on('data', (data) => client.destroyed || client.write(data));
    client.on('data', (data) => {
      if (holds && /[._](?:append|queue)[(_]/u.test(data.toString('latin1'))) {
        holds = false;
        held.push(() => {
          const answer = once(upstream, 'data');
          upstream.write(data);
          return answer;
        });
        client.destroy();
      } else upstream.write(data);
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as { port: number };
  try {
    await withStore(address(server.url.replace(String(server.port), String(port))), async (store) => {
      const many = Array.from({ length: 20 }, (_, n) => said(`${n}`));
      // After some uses of a connection, its appends have names.
      for (const before of many) await store.append(LOG, [before]);
      holds = true;
      expect(await store.append(LOG, [said('once'), said('and this')])).toMatchObject({ records: [{ seq: 21 }, { seq: 22 }] });
      for (const send of held) await send();
      expect(await store.read({ log: LOG })).toHaveLength(22);
    });
    expect(held).toHaveLength(1);
  } finally {
    proxy.close();
  }
});

test('a commit that a crash has undone is repeated, although another transaction got its number', async () => {
  proves('store:postgres-failover');
  // The log of the server is written at commits only, so the crash forgets the number of the transaction. With this isolation, an
  // append needs a separate transaction.
  const crashing = await startPostgres({
    durable: true,
    settings: { wal_writer_delay: '10s', default_transaction_isolation: 'repeatable read' },
  });
  let holds = false;
  const held: (() => void)[] = [];
  const proxy = createServer((client) => {
    const upstream = connect(crashing.port, '127.0.0.1');
    let mute = false;
    client.on('error', () => {}).on('close', () => upstream.destroy());
    upstream.on('error', () => {}).on('data', (data) => client.write(data));
    upstream.on('close', () => mute || client.destroy());
    client.on('data', (data) => {
      if (holds && data.includes('COMMIT\0')) {
        mute = true;
        held.push(() => client.destroy());
      } else if (!mute) upstream.write(data);
    });
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as { port: number };
  try {
    await withStore(crashing.url.replace(String(crashing.port), String(port)), async (store) => {
      await store.append(LOG, [queued('first')]);
      holds = true;
      const appending = store.append(LOG, [queued('undone')], { withinMs: 60_000 });
      await vi.waitUntil(() => held.length > 0);
      holds = false;
      await crashing.signalAll('SIGKILL');
      await vi.waitUntil(
        async () =>
          crashing.start().then(
            () => true,
            () => false,
          ),
        { timeout: 60_000 },
      );
      await withStore(crashing.url, async (other) => {
        for (let n = 0; n < 5; n++) await other.append(LOG, [queued(`other-${n}`)]);
      });
      for (const end of held) end();
      expect(await appending).toMatchObject({ kind: 'appended' });
      expect(await store.items(LOG, { kind: 'ids', ids: ['undone' as never] })).toHaveLength(1);
    });
  } finally {
    proxy.close();
    await crashing.remove();
  }
});

test('the store works behind a pooler with a connection for each transaction; waiting readers poll there', async () => {
  proves('store:postgres-pooler');
  const pooler = await startPooler(server);
  const url = address(pooler.url);
  try {
    const [one, two] = await Promise.all([openStore(url), openStore(url)]);
    await Promise.all(
      Array.from({ length: 60 }, async (_, i) => {
        const store = i % 2 === 0 ? one : two;
        await store.append(`shop/a${i % 5}` as LogKey, [queued(`n${i}`)], { swaps: [{ key: `k${i}`, from: undefined, to: i }] });
        await store.touch({ log: LOG, conversation: `c${i % 3}` as never, turnStarted: true });
        await store.items(LOG, { kind: 'open' });
      }),
    );
    expect((await one.read({ limit: 99 })).map(({ seq }) => seq)).toEqual(Array.from({ length: 60 }, (_, i) => i + 1));
    expect((await two.presence({})).reduce((sum, { turns }) => sum + turns, 0)).toBe(60);
    const head = await one.head();
    const waiting = one.changed(head);
    await two.append(LOG, [said('x')]);
    expect(await waiting).toBe(head + 1);
    expect(await two.verify()).toEqual([]);
    await Promise.all([one.close(), two.close()]);
  } finally {
    await pooler.remove();
  }
});

test('statements have names on a direct connection, and none behind a pooler', async () => {
  proves('store:postgres-pooler');
  const pooler = await startPooler(server);
  const names = async (port: number, wrong?: () => boolean): Promise<string[]> => {
    const seen = new Set<string>();
    const proxy = await proxyTo(
      () => port,
      () => false,
      (sent) => {
        const text = sent.toString('latin1');
        for (const [name] of text.matchAll(/earpiece_(?:append|queue)_/gu)) seen.add(name);
        if (!text.includes('earpiece_queue_') || wrong?.() !== true) return sent;
        return Buffer.from(text.replaceAll('earpiece_queue_', 'earpiece_quite_'), 'latin1');
      },
    );
    try {
      await withStore(address(server.url.replace(String(server.port), String(proxy.port))), async (store) => {
        for (let n = 0; n < 20; n++) {
          await store.append(LOG, [queued(`n${n}`)]);
          await store.append(LOG, [said('x')]);
        }
        expect(await store.read({ log: LOG })).toHaveLength(40);
        expect(await store.verify()).toEqual([]);
      });
    } finally {
      proxy.close();
    }
    return [...seen].toSorted();
  };
  try {
    expect(await names(server.port)).toEqual(['earpiece_append_', 'earpiece_queue_']);
    expect(await names(new URL(pooler.url).port as never)).toEqual([]);
    // The server does not know the name, as behind a pooler that sends the id of a server process like a direct connection.
    let uses = 0;
    expect(await names(server.port, () => uses++ === 3)).toContain('earpiece_queue_');
    expect(uses).toBeGreaterThan(3);
  } finally {
    await pooler.remove();
  }
});

test('errors name the database, the reason and what to do, and never the password', async () => {
  proves('store:postgres-errors');
  const wrong = server.url.replace(PASSWORD, 'wr0ng-one');
  const rows = [
    [wrong, 'store_refused', /refuses the user ear .*: correct the user and the password in the URL$/u],
    [`${server.url}x`, 'store_refused', /postgresx does not exist .*: create the database with createdb postgresx/u],
    [
      `postgres://ear:wr0ng-one@127.0.0.1:${await freePort()}/db`,
      'store_unavailable',
      /^postgres 127\.0\.0\.1:\d+\/db did not complete the call within \d+ ms \(.*ECONNREFUSED\): start the server, correct the URL, or try again$/u,
    ],
    ['postgres://ear:wr0ng one@[/db', 'bad_argument', /write postgres:\/\/user:password@host:5432\/database/u],
    [`${wrong}?schema=A-b`, 'bad_argument', /^schema "A-b": must have only a–z, 0–9 and _/u],
  ] as const;
  for (const [url, code, message] of rows) {
    const error = await openStore(url).then(
      () => undefined,
      (failed: unknown) => failed as Error & { code: string },
    );
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect(error?.message).not.toMatch(/wr0ng|s3cret/u);
    expect(error?.message).not.toContain('\n');
  }
  await withStore(server.url, async (store) => expect(store.name).toBe(`postgres 127.0.0.1:${server.port}/postgres`));
  const newer = address();
  await withStore(newer, async () => {});
  await admin.query(`UPDATE ${new URL(newer).searchParams.get('schema')}.meta SET value = '3001' WHERE key = 'version'`);
  await expect(openStore(newer)).rejects.toMatchObject({
    code: 'store_refused',
    message: expect.stringContaining(
      'was written by a newer version of Earpiece (schema 3; this version knows schema 2). Update Earpiece on this machine',
    ) as string,
  });
  await admin.query("CREATE ROLE guest LOGIN PASSWORD 'guest'");
  await expect(openStore(address(server.url.replace(`ear:${PASSWORD}`, 'guest:guest')))).rejects.toMatchObject({
    code: 'store_refused',
    message: expect.stringMatching(
      /does not let guest write .*: let the owner of the database run CREATE SCHEMA t\d+ AUTHORIZATION guest$/u,
    ) as string,
  });
});

test('retention removes the tokens of repeated appends after a day', async () => {
  const url = address();
  const table = `${new URL(url).searchParams.get('schema')}.repeated`;
  await withStore(url, async (store) => {
    await admin.query(
      `INSERT INTO ${table} (token, again, at) VALUES (1, 1, now() - interval '25 hours'), (2, 1, now() - interval '23 hours')`,
    );
    await store.prune(0);
    expect((await admin.query<{ token: string }>(`SELECT token FROM ${table}`)).rows).toEqual([{ token: '2' }]);
  });
});

test('a page of agents reads no whole table, with and without statistics of the server', async () => {
  const url = address();
  const schema = new URL(url).searchParams.get('schema');
  const many = 20_000;
  const log = "'shop/agent-' || lpad(n::text, 8, '0')";
  await withStore(url, async (store) => {
    await admin.query(`
      INSERT INTO ${schema}.logs (log) SELECT ${log} FROM generate_series(1, ${many}) n;
      INSERT INTO ${schema}.records (log, seq, at, type, loose, body)
        SELECT ${log}, n, 0, 'turn_start', false, '{"type":"turn_start"}' FROM generate_series(1, ${many / 2}) n;
      INSERT INTO ${schema}.conversations (log, conversation, seen_at, presence)
        SELECT ${log}, 'main', n, '{}' FROM generate_series(${many / 2}, ${many}) n`);
    const rowsRead = async (): Promise<number> => {
      const client = await admin.connect();
      try {
        await client.query('BEGIN');
        const page = await client.query(AGENTS.replaceAll(/@([a-z]+)/gu, `${schema}.$1`), ['shop/agent-00009950', 'shop', 100]);
        expect(page.rows).toHaveLength(100);
        const read = await client.query<{ rows: string }>(
          `SELECT sum(seq_tup_read + idx_tup_fetch) AS rows FROM pg_stat_xact_user_tables WHERE schemaname = '${schema}'`,
        );
        await client.query('COMMIT');
        return Number(read.rows[0]?.rows);
      } finally {
        client.release();
      }
    };
    const plan = await admin.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${AGENTS.replaceAll(/@([a-z]+)/gu, `${schema}.$1`)}`, [
      'shop/agent-00009950',
      'shop',
      100,
    ]);
    // With an estimate of 1,000 rows, the server compiles the query.
    expect(plan.rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(/Function Scan on page .* rows=100 /u);
    expect(await rowsRead()).toBeGreaterThan(100);
    expect(await rowsRead()).toBeLessThan(2_000);
    await admin.query(`ANALYZE ${schema}.logs, ${schema}.records, ${schema}.conversations, ${schema}.items`);
    expect(await rowsRead()).toBeLessThan(2_000);
    expect(await store.agents({ project: 'shop', limit: many + 1 })).toHaveLength(many);
    expect(await store.agents({ after: 'shop/agent-00019999' as LogKey })).toHaveLength(1);
    expect(await store.agents({ project: 'sho' })).toEqual([]);
  });
});

test('the check names each missing table, key, function and index', async () => {
  proves('store:postgres-errors');
  const url = address();
  const schema = new URL(url).searchParams.get('schema') ?? '';
  await withStore(url, async (store) => {
    expect(await store.verify()).toEqual([]);
    const missing = (what: string): string => `the ${what} is missing in the schema ${schema}`;
    await admin.query(`ALTER TABLE ${schema}.items DROP CONSTRAINT items_pkey; DROP INDEX ${schema}.items_open`);
    await admin.query(`DROP FUNCTION ${schema}.queue`);
    expect(await store.verify()).toEqual(['primary key of items', 'function queue', 'index items_open'].map(missing));
    const tables = ['settings', 'conversations', 'bindings', 'withheld', 'repeated'];
    await admin.query(`DROP TABLE ${tables.map((name) => `${schema}.${name}`).join(', ')}`);
    expect((await store.verify()).slice(0, 5).toSorted()).toEqual(tables.map((name) => missing(`table ${name}`)).toSorted());
  });
});

test.each([
  ['DROP TABLE @.items', 'the table items, the index items_id'],
  ['DROP FUNCTION @.queue', 'the function queue'],
  ['DROP FUNCTION @.settled', 'the function settled'],
  ['ALTER TABLE @.settings DROP CONSTRAINT settings_pkey', 'the primary key of settings'],
  ['DROP TABLE @.meta', 'the table meta'],
])('after %j, the error names what is missing and what to do', async (sql, gone) => {
  proves('store:postgres-errors');
  const url = address();
  const schema = new URL(url).searchParams.get('schema') ?? '';
  await withStore(url, (store) => store.append(LOG, [queued('a')]));
  await admin.query(sql.replace('@', schema));
  const error: unknown = await withStore(url, async (store) => {
    await store.setSetting('x', 1);
    await store.append(LOG, [queued('b')]);
  }).catch((failed: unknown) => failed);
  expect(error).toMatchObject({ code: 'store_corrupt', retryable: false });
  const { message } = error as Error;
  expect(message).toMatch(
    new RegExp(
      `^postgres 127\\.0\\.0\\.1:\\d+/postgres ${schema} is damaged \\(missing: ${gone}.* in the schema ${schema}\\): restore a backup `,
      'u',
    ),
  );
  expect(message).not.toContain(PASSWORD);
});

test('a server that wants a password is refused at once if there is no password', async () => {
  proves('store:postgres-errors');
  const sockets = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
  const before = sockets();
  const begun = performance.now();
  await expect(openStore(server.url.replace(`:${PASSWORD}`, ''))).rejects.toMatchObject({
    code: 'store_refused',
    message: `postgres 127.0.0.1:${server.port}/postgres needs a password of the user ear, but none was given: give the password in PGPASSWORD, in ~/.pgpass or in the URL`,
  });
  // The socket of the refused connection is closed. An open socket would keep the process until the server closes it.
  await vi.waitUntil(() => sockets() <= before, { timeout: 10_000 });
  expect(performance.now() - begun).toBeLessThan(10_000);
});

test('a call that another transaction blocks fails at its time limit and writes nothing', async () => {
  proves('store:postgres-errors');
  const url = address();
  await withStore(url, async (store) => {
    const holder = await admin.connect();
    await holder.query('BEGIN');
    await holder.query(`LOCK TABLE ${new URL(url).searchParams.get('schema')}.records IN ACCESS EXCLUSIVE MODE`);
    await expect(store.append(LOG, [queued('a')], { withinMs: 300 })).rejects.toMatchObject({
      code: 'store_unavailable',
      retryable: true,
    });
    await holder.query('ROLLBACK');
    holder.release();
    expect(await store.append(LOG, [queued('a')])).toMatchObject({ kind: 'appended', records: [{ seq: 1 }] });
  });
});

test('a connection needs a certificate that the given authority signed', async () => {
  proves('store:postgres-tls');
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-tls-'));
  const [cert, key] = ['cert.pem', 'key.pem'].map((name) => join(folder, name)) as [string, string];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const made = spawnSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      cert,
      ...subject,
    ],
    { encoding: 'utf8' },
  );
  expect(made.status, made.stderr).toBe(0);
  await server.stop();
  place(server, 'server.crt', cert);
  place(server, 'server.key', key);
  await server.start();
  await admin.query('ALTER SYSTEM SET ssl = on');
  await admin.query('SELECT pg_reload_conf()');
  const url = address();
  await vi.waitUntil(async () => (await admin.query<{ ssl: string }>('SHOW ssl')).rows[0]?.ssl === 'on');
  const proved = `${url}&sslmode=verify-full&sslrootcert=${encodeURIComponent(cert)}`;
  await withStore(proved, async (store) => {
    await store.append(LOG, [said('x')]);
    const { rows } = await admin.query(
      "SELECT 1 FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE s.ssl AND a.application_name = 'earpiece'",
    );
    expect(rows.length).toBeGreaterThan(0);
  });
  await expect(openStore(`${url}&sslmode=verify-full`)).rejects.toMatchObject({
    code: 'store_refused',
    message: expect.stringMatching(/has no connection that sslmode allows \(.*\): add sslrootcert=<file>/u) as string,
  });
  rmSync(folder, { recursive: true });
});

test('without the package pg, the error names the package to install', async () => {
  proves('store:postgres-errors');
  const { loadDriver } = await import('../../src/stores/postgres/driver.ts');
  const missing = Object.assign(new Error("Cannot find package 'pg'"), { code: 'ERR_MODULE_NOT_FOUND' });
  await expect(loadDriver(() => Promise.reject(missing))).rejects.toMatchObject({
    code: 'bad_argument',
    message: 'a PostgreSQL store needs the package pg, which is not installed: npm install pg',
  });
});

type Proxy = { readonly port: number; close(): void; cuts(): number; forget(): void };

/** Forwards each connection to the current server. Cuts the connection at the answer to a message that `cutsAt` chooses. */
async function proxyTo(
  port: () => number,
  cutsAt: (sent: Buffer) => boolean = () => false,
  change: (sent: Buffer) => Buffer = (sent) => sent,
): Promise<Proxy> {
  let cuts = 0;
  const proxy: Server = createServer((from) => {
    const to = connect(port(), '127.0.0.1');
    let cutting = false;
    from.on('data', (sent) => {
      cutting ||= cutsAt(sent);
      to.write(change(sent));
    });
    to.on('data', (answer) => {
      if (!cutting) from.write(answer);
      else {
        cuts++;
        from.destroy();
      }
    });
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const)
      one.on('error', () => other.destroy()).on('close', () => other.destroy());
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    port: (proxy.address() as { port: number }).port,
    close: () => void proxy.close(),
    cuts: () => cuts,
    forget: () => void (cuts = 0),
  };
}
