import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LogKey } from '../../core/address.ts';
import { openSqliteStore, type SqliteStore } from './store.ts';
import { Wakeups } from './wakeups.ts';

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
/** Watches of files that this process holds; Node does not count those that do not keep it alive. */
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

it('hears of another process by the file, faster than the poll would', async () => {
  const other = await openSqliteStore({ path: store.path });
  const took: number[] = [];
  for (let i = 0; i < 21; i++) {
    const heard = store.changed(i);
    // Not in the look that the wait itself takes.
    await sleep(5);
    const started = performance.now();
    await other.append(LOG, [{ type: 'turn_start' }]);
    expect(await heard).toBe(i + 1);
    took.push(performance.now() - started);
  }
  took.sort((a, b) => a - b);
  expect(took[10]).toBeLessThan(100);
  await other.close();
});

it('hears of an append of its own process before anything else happens', async () => {
  const heard = store.changed(0);
  await store.head();
  await new Promise(setImmediate);
  await store.append(LOG, [{ type: 'turn_start' }]);
  expect(await Promise.race([heard, new Promise((resolve) => setImmediate(resolve, 'later'))])).toBe(1);
});

it.skipIf(process.platform !== 'linux')(
  'many who wait share one watch, which ends with the store (counted by /proc, on Linux)',
  async () => {
    // Not alone: the last one to close takes the -wal file with it, and so every watch on it.
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

it('does without the file that it watches, and finds the next one', async () => {
  const wal = join(folder, 'some-wal');
  let head = 0;
  const wakeups = new Wakeups(wal, () => head);
  // No file yet.
  const first = wakeups.wait(0, {});
  head = 1;
  expect(await first).toBe(1);
  writeFileSync(wal, 'a');
  for (let round = 0; round < 3; round++) {
    const waiting = wakeups.wait(head, { withinMs: 5000 });
    renameSync(wal, join(folder, `old-${round}`));
    writeFileSync(wal, 'new');
    head++;
    writeFileSync(wal, 'more', { flag: 'a' });
    expect(await waiting).toBe(head);
  }
  // Since the last poll it watches the file that is there now.
  await wakeups.wait(head, { withinMs: 400 });
  const took: number[] = [];
  for (let i = 0; i < 9; i++) {
    const waiting = wakeups.wait(head, { withinMs: 5000 });
    // Beyond the looks that a wait begins with.
    await sleep(140);
    const started = performance.now();
    head++;
    writeFileSync(wal, 'more', { flag: 'a' });
    expect(await waiting).toBe(head);
    took.push(performance.now() - started);
  }
  took.sort((a, b) => a - b);
  expect(took[4]).toBeLessThan(40);
  wakeups.close();
});

it('sees what became visible only after the hint', async () => {
  const wal = join(folder, 'some-wal');
  writeFileSync(wal, 'a');
  let head = 0;
  const wakeups = new Wakeups(wal, () => head);
  const started = performance.now();
  const waiting = wakeups.wait(0, { withinMs: 5000 });
  writeFileSync(wal, 'pages', { flag: 'a' });
  // The fsync ends 20 ms after the write.
  setTimeout(() => (head = 1), 20);
  expect(await waiting).toBe(1);
  expect(performance.now() - started).toBeLessThan(200);
  wakeups.close();
});

it('lets a process end that waits for nothing more, and keeps one alive that waits', async () => {
  const script = join(folder, 'wait.ts');
  writeFileSync(
    script,
    `import { openSqliteStore } from ${JSON.stringify(join(import.meta.dirname, 'store.ts'))};
     const store = await openSqliteStore({ path: ${JSON.stringify(join(folder, 'e.db'))} });
     console.log(await store.changed(0, { withinMs: 200 }));
     // Not closed: what is left must not hold the process.
     `,
  );
  const child: ChildProcess = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed += text));
  const [code] = (await once(child, 'close')) as [number];
  expect([code, printed]).toEqual([0, '0\n']);
});
