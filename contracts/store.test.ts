import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { runStoreContract } from '../src/stores/contract/contract.ts';
import type { StoreUnderTest } from '../src/stores/contract/under-test.ts';
import { memoryStore } from '../src/stores/memory.ts';
import { openSqliteStore, type SqliteStore } from '../src/stores/sqlite/store.ts';
import { openThreadStore } from '../src/stores/thread/store.ts';
import { proves } from '../e2e/verifies.ts';
import { startProducer } from './producers.ts';

/** The promises that some cases prove, by the titles of these cases. */
const PROMISES: Readonly<Record<string, () => void>> = {
  'stores an id once if many simultaneous calls queue it': () => proves('log:idempotent'),
  'returns unknown types and fields as the same JSON': () => proves('log:unknown-types'),
  'never runs backwards within a log, even if the clock runs backwards': () => proves('log:clock'),
  "keeps the time of the writer's own clock if that clock is behind the log": () => proves('time:own-clock'),
  'a second close is refused': () => proves('log:closes-once'),
  'equals a replay of every prefix of the log': () => proves('log:replay'),
  'equals a replay of the remaining records after old records were pruned': () => proves('log:retention'),
  'pages through the notifications that closed in a period, the last closed first': () => proves('store:closed-in'),
  'removes records of any log that concern no item, and changes settings in the same step; the other records replay as before':
    () => proves('log:retention'),
  'lets a carrier succeed within 200 ms and at its first try, while two producers write without pause': () =>
    proves('store:no-starving'),
  'gives a reader of new records every record': () => proves('store:watch'),
  'gives each notification to one of several carriers': () => proves('delivery:two-carriers'),
};

const registered = new Set<string>();
const runner: Parameters<typeof runStoreContract>[2] = {
  describe,
  test(name, options, body) {
    registered.add(name);
    test(name, options, async () => {
      PROMISES[name]?.();
      await body();
    });
  },
};

test('the suite has a case for each promise', () => {
  proves('store:contract');
  expect(Object.keys(PROMISES).filter((name) => !registered.has(name))).toEqual([]);
});

runStoreContract(
  'memory',
  {
    make: memoryStore,
    lacks: {
      'survives-restart': 'it lives and ends with its process by design',
      'many-processes': 'it lives in one process by design',
      'overwrites-erased': 'it keeps no bytes outside of its process',
    },
  },
  runner,
);

const folder = mkdtempSync(join(tmpdir(), 'earpiece-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** Each producer runs in a separate process. */
const producers: StoreUnderTest<SqliteStore>['producers'] = async ({ path }, log, count) => {
  const running = Array.from({ length: count }, (_, i) => startProducer(path, log, `p${i}`));
  return {
    stop: async () => (await Promise.all(running.map((one) => one.stop()))).flat(),
  };
};

/** Returns the content of the database file and of its companion files. */
const contents: StoreUnderTest<SqliteStore>['contents'] = ({ path }) =>
  Buffer.concat(
    ['', '-wal', '-shm']
      .map((side) => `${path}${side}`)
      .filter((file) => existsSync(file))
      .map((file) => readFileSync(file)),
  );

runStoreContract(
  'sqlite',
  {
    make: ({ clock }) => openSqliteStore({ clock, path: join(folder, `${files++}.db`) }),
    again: ({ path }, { clock }) => openSqliteStore({ clock, path }),
    contents,
    producers,
  },
  runner,
);

runStoreContract(
  'sqlite, whose writes share transactions',
  {
    make: ({ clock }) => openSqliteStore({ clock, path: join(folder, `${files++}.db`), together: true }),
    again: ({ path }, { clock }) => openSqliteStore({ clock, path, together: true }),
    contents,
    producers,
  },
  runner,
);

runStoreContract(
  'sqlite, in a separate thread',
  {
    make: ({ clock }) => openThreadStore({ clock, path: join(folder, `${files++}.db`) }),
    again: ({ path }, { clock }) => openThreadStore({ clock, path }),
    contents,
    producers,
  },
  runner,
);
