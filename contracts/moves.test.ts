/** Moves random histories from SQLite through PostgreSQL and NATS and back: the last store must answer like the first. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everything, fill, testClock } from '../e2e/stores/moving.ts';
import { type NatsServers, startNats } from '../e2e/stores/nats-server.ts';
import { type PostgresServer, startPostgres } from '../e2e/stores/postgres-server.ts';
import { proves } from '../e2e/verifies.ts';
import { move } from '../src/stores/moving/move.ts';
import { openEnd } from '../src/stores/moving/open.ts';
import { openStore } from '../src/stores/open.ts';

const folder = mkdtempSync(join(tmpdir(), 'earpiece-moves-'));
let postgres: PostgresServer;
let nats: NatsServers;
beforeAll(async () => {
  [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
});
afterAll(async () => {
  await Promise.all([postgres.remove(), nats.remove()]);
  rmSync(folder, { recursive: true, force: true });
});

test.each([1, 2, 3, 4, 5, 6])('history %i is the same after a round through all engines', async (seed) => {
  proves('store:migrate');
  const clock = testClock();
  const url = join(folder, `${seed}.db`);
  const store = await openStore(url, { clock });
  await fill(store, clock, { seed, more: 0 });
  const before = await everything(store);
  await store.close();
  const round = [
    url,
    `${postgres.url}?schema=s${seed}`,
    `${nats.url}/s${seed}`,
    `${postgres.url}?schema=t${seed}`,
    `${url}-back`,
  ];
  for (const [n, to] of round.slice(1).entries()) {
    const [source, target] = [await openEnd(round[n] as string, '--from'), await openEnd(to, '--to')];
    const moved = await move(source, target);
    await Promise.all([source.close(), target.close()]);
    expect(moved).toMatchObject({ kind: 'moved' });
  }
  const after = await openStore(`${url}-back`, { clock });
  expect(await everything(after)).toEqual(before);
  expect(await after.verify()).toEqual([]);
  await after.close();
});
