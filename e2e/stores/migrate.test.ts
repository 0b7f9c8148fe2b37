/** Tests `earpiece migrate` between real engines: all data arrive, also after kills. */
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { conversation, LOG, ME, OTHER, queued, said } from '../../src/stores/contract/drafts.ts';
import { openStore } from '../../src/stores/open.ts';
import type { Store } from '../../src/core/ports.ts';
import { type Ran, Shell } from '../cli/shell.ts';
import { proves } from '../verifies.ts';
import { everything, fill, testClock, type TestClock } from './moving.ts';
import { type NatsServers, startNats } from './nats-server.ts';
import { PASSWORD, type PostgresServer, startPostgres } from './postgres-server.ts';

let postgres: PostgresServer;
let nats: NatsServers;
let shell: Shell;
beforeAll(async () => {
  [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
  shell = new Shell();
});
afterAll(async () => {
  await shell[Symbol.asyncDispose]();
  await Promise.all([postgres.remove(), nats.remove()]);
});

type Engine = 'sqlite' | 'postgres' | 'nats';
let made = 0;
/** Returns the URL or path of a new store. */
function fresh(engine: Engine): string {
  const n = made++;
  switch (engine) {
    case 'sqlite':
      return join(shell.folder, `store-${n}.db`);
    case 'postgres':
      return `${postgres.url}?schema=m${n}`;
    case 'nats':
      return `${nats.url}/m${n}`;
  }
}

async function withStore<T>(url: string, clock: TestClock, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url, { clock });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const migrate = (
  from: string,
  to: string,
  { fault, args = [] }: { fault?: string; args?: readonly string[] } = {},
): Promise<Ran> =>
  // The presence that `fill` writes counts as an active agent, and some tests keep a store open.
  shell.run(
    ['migrate', '--from', from, '--to', to, '--yes', ...args],
    fault === undefined ? {} : { env: { EARPIECE_FAULT: fault } },
  );

/** Makes a store with every kind of data, and returns the answers of its methods. */
async function filled(engine: Engine, more = 0): Promise<{ url: string; clock: TestClock; before: Record<string, unknown> }> {
  const url = fresh(engine);
  const clock = testClock();
  const before = await withStore(url, clock, async (store) => {
    await fill(store, clock, { seed: 7, more });
    return everything(store);
  });
  return { url, clock, before };
}

const DIRECTIONS: readonly (readonly [Engine, Engine])[] = [
  ['sqlite', 'postgres'],
  ['sqlite', 'nats'],
  ['postgres', 'nats'],
  ['nats', 'postgres'],
  ['postgres', 'sqlite'],
  ['nats', 'sqlite'],
  ['sqlite', 'sqlite'],
];

describe.each(DIRECTIONS)('from %s to %s', (source, target) => {
  test('the target gives the same answers as the source, and the source names the target', async () => {
    proves('store:migrate');
    const { url, clock, before } = await filled(source);
    const to = fresh(target);
    const ran = await migrate(url, to, { args: ['--json'] });
    expect(ran.stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ verified: true, records: (before['records'] as unknown[]).length });
    expect(ran.code).toBe(0);
    await withStore(to, clock, async (store) => {
      expect(await everything(store)).toEqual(before);
      expect(await store.verify()).toEqual([]);
      const appended = await store.append(LOG, [said('after'), queued('after')]);
      expect(appended).toMatchObject({ kind: 'appended', records: [{ seq: Number(before['head']) + 1 }, {}] });
    });
    await expect(openStore(url)).rejects.toMatchObject({
      code: 'store_refused',
      message: expect.stringMatching(/ was migrated to \S+ at \S+Z: use the new database/u),
    });
    await expect(openStore(url)).rejects.not.toMatchObject({ message: expect.stringContaining(PASSWORD) });
  });
});

describe.each(DIRECTIONS.slice(0, 5))('from %s to %s', (source, target) => {
  test('a migration that is killed at each step, with writes in between, loses and duplicates nothing', async () => {
    proves('store:migrate-killed', 'store:migrate-closed');
    const { url, clock } = await filled(source, 600);
    const to = fresh(target);
    const running = await openStore(url, { clock });
    const killed = async (fault: string): Promise<void> => {
      const { code, stdout } = await migrate(url, to, { fault });
      expect([fault, code, stdout]).toEqual([fault, null, '']);
      await expect(openStore(to)).rejects.toMatchObject({
        code: 'store_refused',
        message: expect.stringMatching(/ holds an unfinished migration: continue the migration with earpiece migrate --from /u),
      });
    };
    await killed('move.target_marked');
    // The source is not frozen yet, so this write is moved too.
    expect(await running.append(LOG, [queued('in time')])).toMatchObject({ kind: 'appended' });
    await killed('move.source_marked');
    const before = await everything(running);
    for (const fault of [
      'move.written:2',
      'move.page:1',
      'move.written:1',
      'move.page:2',
      'move.rows:1',
      'move.rows:3',
      'move.compared',
    ]) {
      await killed(fault);
      await expect(openStore(url)).rejects.toMatchObject({
        code: 'store_refused',
        message: expect.stringMatching(
          / is being migrated to .*: continue with earpiece migrate .*, or cancel with .* --cancel$/u,
        ),
      });
      await refusesWrites(running);
    }
    await killed('move.source_done');
    await refusesWrites(running);
    expect(await everything(running)).toEqual(before);
    await running.close();
    const last = await migrate(url, to);
    expect([last.code, last.stdout]).toEqual([0, expect.stringContaining('both databases have the checksum')]);
    await withStore(to, clock, async (store) => {
      expect(await everything(store)).toEqual(before);
      expect(await store.verify()).toEqual([]);
    });
  });

  test('a migration that is killed at random several times loses and duplicates nothing', async () => {
    proves('store:migrate-killed');
    const { url, clock, before } = await filled(source, 600);
    const to = fresh(target);
    const seed = Math.floor(Math.random() * 2 ** 31);
    let state = seed;
    const random = (n: number): number => (
      (state = (state * 1_103_515_245 + 12_345) % 2 ** 31),
      Math.floor((state / 2 ** 31) * n)
    );
    const points = ['move.written', 'move.written', 'move.page', 'move.rows'];
    let kills = 0;
    for (let n = 0; n < 5; n++) {
      const most = target === 'nats' ? 800 : 5;
      const fault = `${points[random(points.length)]}:${1 + random(most)}`;
      const { code } = await migrate(url, to, { fault });
      if (code === 0) break;
      expect([seed, fault, code]).toEqual([seed, fault, null]);
      kills++;
    }
    const { code, stderr } = await migrate(url, to);
    // A run that was not killed has finished the migration.
    expect([seed, kills, code, stderr]).toEqual([seed, kills, kills < 5 ? 6 : 0, expect.anything()]);
    await withStore(to, clock, async (store) => expect([seed, await everything(store)]).toEqual([seed, before]));
  });
});

test('an append that another process left unfinished is moved as a whole, with its setting', async () => {
  proves('store:migrate');
  const from = fresh('nats');
  const clock = testClock();
  await withStore(from, clock, async (store) => {
    await store.append(LOG, [said('before')]);
  });
  const name = from.split('/').at(-1) ?? '';
  const nc = await connect({ servers: `127.0.0.1:${nats.nodes[0]?.port}` });
  const drafts = [said('one'), queued('two'), said('three')];
  const held = { key: 'swapped', value: 'old', held: { tx: 'somebody 1', log: LOG, to: 'new' } };
  await nc.request(`earpiece.${name}.table.setting.swapped`, JSON.stringify({ by: 'somebody 1', value: held }));
  await nc.request(
    `earpiece.${name}.log.shop.coder.a`,
    JSON.stringify({ tx: 'somebody 1', at: clock.time, swaps: true, drafts }),
  );
  await nc.close();
  const to = fresh('postgres');
  expect((await migrate(from, to)).code).toBe(0);
  await withStore(to, clock, async (store) => {
    expect((await store.read({})).map(({ seq, body }) => [seq, body])).toEqual([
      [1, said('before')],
      ...drafts.map((draft, n) => [2 + n, draft]),
    ]);
    expect(await store.setting('swapped')).toBe('new');
    expect(await store.verify()).toEqual([]);
  });
});

/** Expects that a store that was open before the migration refuses every write. */
async function refusesWrites(store: Store): Promise<void> {
  const x = { log: LOG, conversation: conversation('x') };
  const writes: readonly (() => Promise<unknown>)[] = [
    () => store.append(LOG, [queued('too late')]),
    () => store.append(LOG, [said('too late'), queued('too late')]),
    () => store.touch({ ...x, host: 'late' }),
    () => store.touch({ log: OTHER, conversation: conversation('new') }),
    () => store.bind({ ...ME, pid: 77 }, x),
    () => store.withhold({ ...x, id: 'late', at: 1, until: 9_999_999_999_999, tool: 't', body: '' }),
    () => store.withheld(LOG, x.conversation, { take: true }),
    () => store.setSetting('late', 1),
    () => store.swapSetting('late', undefined, 1),
    () => store.append(LOG, [], { swaps: [{ key: 'late', from: undefined, to: 1 }] }),
    () => store.prune(store.ordered()),
    () => store.erase(LOG, 1_000_000),
  ];
  for (const write of writes)
    await expect(write(), write.toString()).rejects.toMatchObject({
      code: 'store_refused',
      message: expect.stringContaining('refuses writes, because the database is being migrated or was migrated'),
    });
}
