import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
const handles = (): string[] => process.getActiveResourcesInfo().filter((kind) => kind === 'FSEvent' || kind === 'FSEVENTWRAP');

it('hears of another process by the file, faster than the poll would', async () => {
  const other = await openSqliteStore({ path: store.path });
  const took: number[] = [];
  for (let i = 0; i < 21; i++) {
    const heard = store.changed(i);
    // Not in the look that the wait itself takes.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const started = performance.now();
    await other.append(LOG, [{ type: 'turn_start' }]);
    expect(await heard).toBe(i + 1);
    took.push(performance.now() - started);
  }
  took.sort((a, b) => a - b);
  expect(took[10]).toBeLessThan(100);
  await other.close();
});

it('many who wait share one watch, which ends with the store', async () => {
  const mine = await openSqliteStore({ path: join(folder, 'mine.db') });
  const before = handles().length;
  const all = Array.from({ length: 50 }, () => mine.changed(0));
  await mine.head();
  await new Promise(setImmediate);
  expect(handles().length - before).toBeLessThanOrEqual(1);
  await mine.append(LOG, [{ type: 'turn_start' }]);
  expect(new Set(await Promise.all(all))).toEqual(new Set([1]));
  await mine.close();
  expect(handles().length).toBe(before);
});

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
