/**
 * The file system of the database stops writing for some seconds (`fsfreeze`, as a snapshot or a hanging network block device
 * does), or another process holds the lock: the agent's calls go on. Freezing needs Linux, root and a loop device.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { proves } from '../verifies.ts';
import { Stage, textOf, type GatewayClient } from './stage.ts';

const FROZEN_MS = 8_000;
/** The bar is 300 ms (`bench`); a test on a busy machine gets more, and a call that waits for the disk takes seconds. */
const SOON_MS = 1_500;

class Disk implements Disposable {
  readonly folder: string;
  #frozen = false;

  constructor(folder: string) {
    this.folder = join(folder, 'disk');
    const image = join(folder, 'disk.img');
    mkdirSync(this.folder);
    writeFileSync(image, '');
    run('truncate', '-s', '48M', image);
    run('mkfs.ext4', '-q', image);
    run('mount', '-o', 'loop', image, this.folder);
  }

  freeze(): void {
    run('fsfreeze', '--freeze', this.folder);
    this.#frozen = true;
  }

  thaw(): void {
    if (this.#frozen) run('fsfreeze', '--unfreeze', this.folder);
    this.#frozen = false;
  }

  [Symbol.dispose](): void {
    this.thaw();
    run('umount', '--lazy', this.folder);
  }
}

const run = (command: string, ...args: string[]): void => void execFileSync(command, args, { stdio: 'pipe' });

/** Calls without pause until `until` resolves; how long each took, in ms. */
async function callsUntil(gateway: GatewayClient, until: Promise<unknown>): Promise<{ ms: number; text: string }[]> {
  const calls: { ms: number; text: string }[] = [];
  let over = false;
  void until.then(() => (over = true));
  while (!over) {
    const started = performance.now();
    const text = textOf(await gateway.call('echo', { text: `call ${calls.length}` }));
    calls.push({ ms: performance.now() - started, text });
    await sleep(20);
  }
  return calls;
}

const slowest = (calls: readonly { ms: number }[]): number => Math.max(...calls.map(({ ms }) => ms));

// Nobody but root may mount and freeze a file system, and only Linux has these commands.
it.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
  'a disk that is frozen right after a commit of another process: each call is answered, and the news arrive once it thaws',
  async () => {
    proves('store:frozen-disk');
    await using stage = new Stage();
    using disk = new Disk(stage.folder);
    const env = { EARPIECE_DB: join(disk.folder, 'earpiece.db') };
    const gateway = await stage.gateway({ env });
    await gateway.call('echo', { text: 'first' });
    expect((await stage.run(['send', 'the build has ended'], { env })).code).toBe(0);
    disk.freeze();
    const calls = await callsUntil(gateway, sleep(FROZEN_MS));
    disk.thaw();
    expect(calls.length).toBeGreaterThan(10);
    expect(slowest(calls)).toBeLessThan(SOON_MS);
    const after = await callsUntil(gateway, sleep(1_500));
    const told = [...calls, ...after].filter(({ text }) => text.includes('the build has ended'));
    expect(told.length).toBeGreaterThan(0);
    expect(told.slice(1).filter(({ text }) => !text.includes('repeated'))).toEqual([]);
    expect(gateway.stderr).toMatch(/notifications cannot be reached/);
  },
  60_000,
);

it('a lock that another process holds: each call is answered, and the news arrive once it is gone', async () => {
  proves('store:frozen-disk');
  await using stage = new Stage();
  const gateway = await stage.gateway();
  await gateway.call('echo', { text: 'first' });
  expect((await stage.run(['send', 'the build has ended'])).code).toBe(0);
  const other = new DatabaseSync(stage.db);
  other.exec('BEGIN IMMEDIATE');
  const calls = await callsUntil(gateway, sleep(4_000));
  other.exec('ROLLBACK');
  other.close();
  expect(slowest(calls)).toBeLessThan(SOON_MS);
  const after = await callsUntil(gateway, sleep(1_500));
  expect([...calls, ...after].filter(({ text }) => text.includes('the build has ended'))).toHaveLength(1);
}, 60_000);

it('a pause whose refusals cannot be written refuses all the same, a critical for the calls of its batch', async () => {
  proves('gate:unwritable');
  await using stage = new Stage();
  const gateway = await stage.gateway();
  const call = async (text: string): Promise<boolean> => (await gateway.call('echo', { text })).isError === true;
  await call('zero');
  expect((await stage.run(['send', '--level', 'critical', 'stop deploying'])).code).toBe(0);
  const other = new DatabaseSync(stage.db);
  other.exec('BEGIN IMMEDIATE');
  const batch = await Promise.all(['a', 'b', 'c'].map(call));
  expect(batch).toEqual([true, true, true]);
  // Whoever asks again a second later has read it: an outage holds no agent up for ever.
  await sleep(1_200);
  expect(await call('d')).toBe(false);
  other.exec('ROLLBACK');
  await callsUntil(gateway, sleep(500));
  expect((await stage.run(['send', '--action', 'pause', 'hold on'])).code).toBe(0);
  expect(await call('e')).toBe(true);
  other.exec('BEGIN IMMEDIATE');
  for (let n = 0; n < 3; n++) {
    expect(await call(`f${n}`)).toBe(true);
    await sleep(1_100);
  }
  other.exec('ROLLBACK');
  other.close();
  expect(await call('g')).toBe(true);
  expect(stage.calls().filter(({ text }) => /^(a|b|c|e|f\d|g)$/.test(text))).toEqual([]);
}, 60_000);
