/**
 * Tests that trouble of the database does not stop the agent: calls pass, except behind a known gate. Delivery resumes when the
 * database works again.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as passing } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ASKED_AGAIN_MS } from '../../src/inbox/conversation/gate.ts';
import { textOf, type GatewayClient } from '../delivery/stage.ts';
import { proves } from '../verifies.ts';
import { Running, Shell } from './shell.ts';

const CODER = { args: ['--as', 'coder'] };
/**
 * A call that takes longer than 4 s has waited for the store. An outage delays its first call by about 250 ms, and later calls
 * less. A wait for the lock would take 5 s.
 */
const BLOCKED_MS = 4_000;

async function timed(gateway: GatewayClient, text: string): Promise<{ text: string; ms: number }> {
  const start = performance.now();
  const answer = textOf(await gateway.call('echo', { text }));
  return { text: answer, ms: performance.now() - start };
}

/** Makes calls until a result carries a notification. Returns the number of calls without a notification. */
async function untilItRides(gateway: GatewayClient, message: string): Promise<number> {
  for (let bare = 0; bare < 200; bare++) {
    const { text } = await timed(gateway, `call ${bare}`);
    if (text.includes(message)) return bare;
    expect(text).toBe(`call ${bare}`);
    await passing(50);
  }
  throw new Error(`${message} was never delivered\n${gateway.stderr}`);
}

const holding = async (db: string): Promise<Running> => {
  const lock = new Running(spawn(process.execPath, [join(import.meta.dirname, 'lock.ts'), db], { stdio: 'pipe' }));
  await lock.shows('held');
  return lock;
};

describe('a gateway whose database', () => {
  proves('gateway:store-trouble');

  it('is locked by another process lets calls pass and prints one line; then the notification arrives once', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    const gateway = await shell.gateway(CODER);
    await timed(gateway, 'warm');
    await ear.queue('shop/coder#main', { id: 'n1', message: 'queued before the lock' });
    const lock = await holding(shell.db);
    const took: number[] = [];
    for (let call = 0; call < 20; call++) {
      const { text, ms } = await timed(gateway, `locked ${call}`);
      expect(text).toBe(`locked ${call}`);
      expect(ms).toBeLessThan(BLOCKED_MS);
      took.push(ms);
    }
    lock.process.stdin.end();
    await lock.ended;
    await untilItRides(gateway, 'queued before the lock');
    expect(textOf(await gateway.call('echo', { text: 'and then' }))).toBe('and then');
    // Only the first call of the outage waits for 250 ms.
    expect(Math.min(...took)).toBeLessThan(200);
    expect(gateway.stderr.split('\n')).toEqual([
      'earpiece: notifications cannot be reached (after: no answer within 250 ms); until the store answers, tool calls pass without notifications, except while a known gate is up',
      'earpiece: notifications can be reached again',
      '',
    ]);
    expect((await ear.store.read({ types: ['carrier_confirmed'] })).length).toBe(1);
  });

  it('is locked while the gate is up refuses the batch and lets a later call pass; the next interrupt refuses calls as usual', async () => {
    await using shell = new Shell();
    const ear = await shell.open();
    const gateway = await shell.gateway(CODER);
    await timed(gateway, 'warm');
    await ear.queue('shop/coder#main', { id: 'stop', level: 'critical', message: 'stop now' });
    const lock = await holding(shell.db);
    for (const word of ['locked', 'locked too']) {
      const { text, ms } = await timed(gateway, word);
      expect({ text, blocked: ms > BLOCKED_MS }).toEqual({ text: expect.stringContaining('stop now'), blocked: false });
    }
    // This wait is part of the test: a call this long after the refusals proves that the model was asked again.
    await passing(ASKED_AGAIN_MS + 200);
    expect((await timed(gateway, 'asked again')).text).toBe('asked again');
    lock.process.stdin.end();
    await lock.ended;
    await ear.queue('shop/coder#main', { id: 'again', level: 'critical', message: 'stop again' });
    await expect.poll(async () => textOf(await gateway.call('echo', { text: 'refused' }))).toContain('stop again');
    expect(shell.calls().filter(({ text }) => text.startsWith('locked'))).toEqual([]);
  });

  it('is invalid at the start prints one line, and delivers notifications once the file is removed', async () => {
    await using shell = new Shell();
    writeFileSync(shell.db, 'garbage'.repeat(2_000));
    const gateway = await shell.gateway(CODER);
    for (let n = 0; n < 3; n++) {
      const { text, ms } = await timed(gateway, `garbage ${n}`);
      expect({ text, blocked: ms > BLOCKED_MS }).toEqual({ text: `garbage ${n}`, blocked: false });
    }
    rmSync(shell.db);
    const ear = await shell.open();
    await ear.queue('shop/coder#main', { message: 'from a new database' });
    await untilItRides(gateway, 'from a new database');
    const lines = gateway.stderr.trimEnd().split('\n');
    expect(lines[0]).toBe(
      `earpiece: notifications cannot be reached (before: ${shell.db} is not an SQLite database (file is not a database): name another file with --db or EARPIECE_DB, or move this file away); until the store answers, tool calls pass without notifications, except while a known gate is up`,
    );
    alternate(lines);
  });

  it('cannot be created, because a file has the name of its folder, prints one line and delivers once that file is removed', async () => {
    await using shell = new Shell();
    writeFileSync(join(shell.folder, 'data'), '');
    const db = join(shell.folder, 'data', 'earpiece.db');
    const gateway = await shell.gateway({ ...CODER, env: { EARPIECE_DB: db } });
    expect((await timed(gateway, 'x')).text).toBe('x');
    rmSync(join(shell.folder, 'data'));
    mkdirSync(join(shell.folder, 'data'));
    await shell.says(['--db', db, 'send', '--to', 'shop/coder', 'there is a folder now']);
    await untilItRides(gateway, 'there is a folder now');
    const lines = gateway.stderr.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^earpiece: notifications cannot be reached \(before: .*data/);
    alternate(lines);
  });

  it('is moved away and replaced delivers notifications that are queued in the new file', async () => {
    await using shell = new Shell();
    const gateway = await shell.gateway(CODER);
    await timed(gateway, 'warm');
    for (const part of ['', '-wal', '-shm']) renameSync(`${shell.db}${part}`, join(shell.folder, `away${part}`));
    const ear = await shell.open();
    await ear.queue('shop/coder#main', { message: 'from another file' });
    await untilItRides(gateway, 'from another file');
    expect((await ear.store.read({ types: ['carrier_offered'] })).length).toBe(1);
  });
});

/** Checks that each outage printed one line at its start and one at its end. On a slow machine, another outage may follow. */
function alternate(lines: readonly string[]): void {
  for (const [n, line] of lines.entries()) expect(line).toMatch(n % 2 === 0 ? /cannot be reached/ : /can be reached again$/);
  expect(lines.length % 2).toBe(0);
}
