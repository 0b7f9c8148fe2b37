import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LogKey } from '../../core/address.ts';
import { openSqliteStore, type SqliteStore } from './store.ts';
import { Wakeups, type PollMs } from './wakeups.ts';

const LOG = 'shop/coder' as LogKey;
let folder: string;
let store: SqliteStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece-wakeups-'));
  store = await openSqliteStore({ path: join(folder, 'e.db') });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});
/** Returns the number of file watches of this process. Node does not count watches that do not keep the process alive. */
const watches = (): number =>
  readdirSync('/proc/self/fdinfo')
    .flatMap((fd) => {
      try {
        return readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').split('\n');
      } catch {
        return [];
      }
    })
    .filter((line) => line.startsWith('inotify ')).length;

/** Polls so rarely that only the watch can notice an append. */
const NO_POLL: PollMs = { watched: 3_600_000, unwatched: 25 };
/** The number of reads of one wait: one at its beginning, and eight after a hint. */
const READS = 9;

/** Returns a newest position, and counts the reads. */
class Head {
  reads = 0;
  readonly #at: () => number;

  constructor(at: () => number) {
    this.#at = at;
  }

  readonly read = (): number => {
    this.reads++;
    return this.#at();
  };

  async hasRead(times: number): Promise<void> {
    while (this.reads < times) await sleep(2);
  }
}

it('a wait notices an append of another process by the watch on the file, without the poll', async () => {
  const reader = new DatabaseSync(store.path);
  const newest = reader.prepare('SELECT coalesce(max(seq), 0) AS seq FROM records');
  const head = new Head(() => Number(newest.get()?.['seq']));
  const wakeups = new Wakeups(`${store.path}-wal`, head.read, NO_POLL);
  for (let i = 0; i < 5; i++) {
    head.reads = 0;
    const newHead = wakeups.wait(i, {});
    // The append follows the reads that the wait itself makes.
    await head.hasRead(READS);
    await store.append(LOG, [{ type: 'turn_start' }]);
    expect(await newHead).toBe(i + 1);
  }
  wakeups.close();
  reader.close();
});

it('a wait learns of an append in its own process before any other event', async () => {
  const newHead = store.changed(0);
  await store.head();
  await new Promise(setImmediate);
  await store.append(LOG, [{ type: 'turn_start' }]);
  expect(await Promise.race([newHead, new Promise((resolve) => setImmediate(resolve, 'later'))])).toBe(1);
});

it.skipIf(process.platform !== 'linux')(
  'many waiting callers share one watch, which ends with the store (counted by /proc, on Linux)',
  async () => {
    // A second connection stays open, because the last connection to close deletes the -wal file, and with it each watch on the
    // file.
    const mine = await openSqliteStore({ path: store.path });
    const before = watches();
    const all = Array.from({ length: 50 }, () => mine.changed(0));
    await mine.head();
    await new Promise(setImmediate);
    expect(watches() - before).toBe(1);
    await mine.append(LOG, [{ type: 'turn_start' }]);
    expect(new Set(await Promise.all(all))).toEqual(new Set([1]));
    await mine.close();
    expect(watches()).toBe(before);
  },
);

it('a wait continues while the watched file is missing, and then watches the next file', async () => {
  const wal = join(folder, 'some-wal');
  let at = 0;
  const head = new Head(() => at);
  const pollMs = { watched: 25, unwatched: 25 };
  const wakeups = new Wakeups(wal, head.read, pollMs);
  // The file does not exist yet.
  const first = wakeups.wait(0, {});
  at = 1;
  expect(await first).toBe(1);
  writeFileSync(wal, 'a');
  for (let round = 0; round < 3; round++) {
    const waiting = wakeups.wait(at, {});
    renameSync(wal, join(folder, `old-${round}`));
    writeFileSync(wal, 'new');
    at++;
    writeFileSync(wal, 'more', { flag: 'a' });
    expect(await waiting).toBe(at);
  }
  // After these iterations of the event loop, the watch has reported that the old file is deleted, and the next wait watches the
  // current file.
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  Object.assign(pollMs, NO_POLL);
  for (let i = 0; i < 3; i++) {
    head.reads = 0;
    const waiting = wakeups.wait(at, {});
    await head.hasRead(READS);
    at++;
    writeFileSync(wal, 'more', { flag: 'a' });
    expect(await waiting).toBe(at);
  }
  wakeups.close();
});

it('a wait sees an append that became visible only after the hint', async () => {
  const wal = join(folder, 'some-wal');
  writeFileSync(wal, 'a');
  let at = 0;
  const head = new Head(() => at);
  const wakeups = new Wakeups(wal, head.read, NO_POLL);
  const waiting = wakeups.wait(0, {});
  await head.hasRead(READS);
  writeFileSync(wal, 'pages', { flag: 'a' });
  // The fsync ends after the first read that follows the hint.
  await head.hasRead(READS + 1);
  at = 1;
  expect(await waiting).toBe(1);
  wakeups.close();
});

it('a process that waits stays alive, and a process that no longer waits can end', async () => {
  const script = join(folder, 'wait.ts');
  writeFileSync(
    script,
    `import { openSqliteStore } from ${JSON.stringify(join(import.meta.dirname, 'store.ts'))};
     const store = await openSqliteStore({ path: ${JSON.stringify(join(folder, 'e.db'))} });
     console.log(await store.changed(0, { withinMs: 200 }));
     // The store is not closed, because an open store must not keep the process alive.
     `,
  );
  const child: ChildProcess = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const [code] = (await once(child, 'close')) as [number];
  expect([code, printed]).toEqual([0, '0\n']);
});
