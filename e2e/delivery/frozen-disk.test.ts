/**
 * Tests that an agent's calls continue while the database cannot be written. Either its file system is frozen for some seconds
 * (`fsfreeze`), as by a snapshot or a hanging network disk, or another process holds the lock. Freezing needs Linux, root and a
 * loop device.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ASKED_AGAIN_MS } from '../../src/inbox/conversation/gate.ts';
import { proves } from '../verifies.ts';
import { Stage, textOf, type GatewayClient } from './stage.ts';

/** The duration of the outage: a call that waits for the disk or for the lock would take this long. */
const FROZEN_MS = 8_000;
const LOCKED_MS = 4_000;
/**
 * The longest time of a call, in ms. The promise `store:frozen-disk` is 300 ms. A test on a busy machine allows more, because a
 * call that waited for the disk would take seconds.
 */
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

type Calls = readonly { readonly ms: number; readonly text: string }[];

/**
 * Makes calls as an agent does, one after the other, until `over` accepts the list of calls. Returns the time in ms and the text
 * of each call.
 */
async function callsUntil(gateway: GatewayClient, over: (calls: Calls) => boolean): Promise<Calls> {
  const calls: { ms: number; text: string }[] = [];
  while (!over(calls)) {
    const started = performance.now();
    const text = textOf(await gateway.call('echo', { text: `call ${calls.length}` }));
    calls.push({ ms: performance.now() - started, text });
    await sleep(20);
  }
  return calls;
}

/** Returns a condition that is true once this many ms have passed. */
function after(ms: number): () => boolean {
  const end = performance.now() + ms;
  return () => performance.now() > end;
}

const NEWS = 'the build has ended';
const tells = ({ text }: Calls[number]): boolean => text.includes(NEWS);
/**
 * Returns a condition that is true more than 20 calls after the first carrier. A repetition would arrive with one of these calls.
 */
const told =
  (before: Calls) =>
  (calls: Calls): boolean =>
    [...before, ...calls].some(tells) && calls.length - Math.max(0, calls.findIndex(tells)) > 20;

const slowest = (calls: Calls): number => Math.max(...calls.map(({ ms }) => ms));

// Only root may mount and freeze a file system, and only Linux has these commands.
it.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
  "if the disk freezes right after another process's commit, calls are answered, and the notification arrives when the disk works again",
  async () => {
    proves('store:frozen-disk');
    await using stage = new Stage();
    using disk = new Disk(stage.folder);
    const env = { EARPIECE_DB: join(disk.folder, 'earpiece.db') };
    const gateway = await stage.gateway({ env });
    await gateway.call('echo', { text: 'first' });
    expect((await stage.run(['send', NEWS], { env })).code).toBe(0);
    disk.freeze();
    const calls = await callsUntil(gateway, after(FROZEN_MS));
    disk.thaw();
    expect(calls.length).toBeGreaterThan(10);
    expect(slowest(calls)).toBeLessThan(SOON_MS);
    const heard = [...calls, ...(await callsUntil(gateway, told(calls)))].filter(tells);
    expect(heard.length).toBeGreaterThan(0);
    expect(heard.slice(1).filter(({ text }) => !text.includes('repeated'))).toEqual([]);
    expect(gateway.stderr).toMatch(/notifications cannot be reached/);
  },
  60_000,
);

it.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
  'if queue() gets no answer from a frozen disk, its error names the id; a repetition with this id queues once',
  async () => {
    proves('store:unknown-outcome');
    await using stage = new Stage();
    using disk = new Disk(stage.folder);
    const child = spawn(process.execPath, [join(import.meta.dirname, 'queueing.ts'), join(disk.folder, 'earpiece.db')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const ask = (input: object): void => void child.stdin.write(`${JSON.stringify(input)}\n`);
    const answer = async (): Promise<Record<string, unknown>> =>
      JSON.parse((await lines.next()).value as string) as Record<string, unknown>;
    const queue = (input: object): Promise<Record<string, unknown>> => {
      ask(input);
      return answer();
    };
    expect(await queue({ message: 'first', key: 'k' })).toMatchObject({ kind: 'queued' });
    disk.freeze();
    // The store's thread hangs in this write. So the thread does not answer the read that a notification with a key needs.
    ask({ message: 'hangs' });
    const refused = await queue({ message: NEWS, key: 'other' });
    disk.thaw();
    expect(await answer()).toMatchObject({ kind: 'queued' });
    const { id } = refused['data'] as { readonly id: string };
    expect(refused).toMatchObject({
      code: 'store_unavailable',
      retryable: true,
      message: expect.stringContaining(
        `another process holds the lock of the database; the notification may be stored nevertheless: queue again with the same id (${id})`,
      ),
    });
    expect(id).toMatch(/^n_/);
    expect(await queue({ message: NEWS, key: 'other', id })).toMatchObject({ id });
    expect(await queue({ message: NEWS, key: 'other', id })).toMatchObject({ kind: 'duplicate', id });
    child.stdin.end();
    await ended;
  },
  60_000,
);

it.skipIf(process.getuid?.() !== 0 || process.platform !== 'linux')(
  'while a disk is frozen, a read of the store in a thread fails at its time limit',
  async () => {
    proves('store:frozen-disk');
    await using stage = new Stage();
    using disk = new Disk(stage.folder);
    const child = spawn(process.execPath, [join(import.meta.dirname, 'reading.ts'), join(disk.folder, 'earpiece.db')], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe('ready');
    disk.freeze();
    child.stdin.end('\n');
    // Without a time limit, the reads would be answered only after the disk thaws.
    const thawing = setTimeout(() => disk.thaw(), FROZEN_MS);
    const results = JSON.parse((await lines.next()).value as string) as unknown;
    clearTimeout(thawing);
    disk.thaw();
    expect(results).toEqual({ items: 'store_unavailable', withheld: 'store_unavailable', secret: 'store_unavailable' });
    expect(await ended).toEqual([0, null]);
  },
  60_000,
);

it('while another process holds the lock each call is answered, and notifications arrive after that', async () => {
  proves('store:frozen-disk');
  await using stage = new Stage();
  const gateway = await stage.gateway();
  await gateway.call('echo', { text: 'first' });
  expect((await stage.run(['send', NEWS])).code).toBe(0);
  const other = new DatabaseSync(stage.db);
  other.exec('BEGIN IMMEDIATE');
  const calls = await callsUntil(gateway, after(LOCKED_MS));
  other.exec('ROLLBACK');
  other.close();
  expect(slowest(calls)).toBeLessThan(SOON_MS);
  const later = await callsUntil(gateway, told(calls));
  expect([...calls, ...later].filter(tells)).toHaveLength(1);
}, 60_000);

it('if refusals cannot be written, a pause still refuses calls, and a critical notification refuses its batch', async () => {
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
  // A call a second later proves that the agent has read the interrupt. So a critical notification does not block an agent for
  // the whole outage.
  await sleep(ASKED_AGAIN_MS + 200);
  expect(await call('d')).toBe(false);
  other.exec('ROLLBACK');
  await callsUntil(gateway, () => gateway.stderr.includes('notifications can be reached again'));
  expect((await stage.run(['send', '--action', 'pause', 'hold on'])).code).toBe(0);
  expect(await call('e')).toBe(true);
  other.exec('BEGIN IMMEDIATE');
  // Unlike a critical notification, a pause also refuses calls that arrive a second later.
  for (let n = 0; n < 3; n++) {
    if (n > 0) await sleep(ASKED_AGAIN_MS + 100);
    expect(await call(`f${n}`)).toBe(true);
  }
  other.exec('ROLLBACK');
  other.close();
  expect(await call('g')).toBe(true);
  expect(stage.calls().filter(({ text }) => /^(a|b|c|e|f\d|g)$/.test(text))).toEqual([]);
}, 60_000);
