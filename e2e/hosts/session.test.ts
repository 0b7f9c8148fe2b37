/**
 * Tests that six real agents read their notifications in long sessions: under load, after a crash of the gateway, and after their
 * own crash.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { proves } from '../verifies.ts';
import { entry, send, wrappedFixture } from './earpiece.ts';
import { clientNames, type ClientName } from './pins.ts';
import { end, processesOf } from './processes.ts';
import { told } from './told.ts';
import { run, type Run, type RunOptions } from './run.ts';

/**
 * The clients that restart a killed gateway for their next call. Other clients continue without the gateway's tools.
 */
const RESTARTS_GATEWAY: ReadonlySet<ClientName> = new Set(['claude', 'qwen']);

const output = (id: string, chars: number) => ({ mcp: 'fixture', tool: 'output', args: { id, chars } });
const note = (text: string) => ({ mcp: 'fixture', tool: 'note', args: { text } });
const pull = { mcp: 'fixture', tool: 'get_notifications' };
const word = (n: number): string => `WORD-${String(n).padStart(2, '0')}-`;
const words = (from: number, count: number): readonly number[] => Array.from({ length: count }, (_, i) => from + i);

describe.for(clientNames)('%s behind the gateway', (client) => {
  proves('hosts:sessions');

  test('reads each of 20 notifications once, and two critical notifications raise the gate until they are read', async () => {
    using folder = temporaryFolder();
    const database = path.join(folder.path, 'earpiece.db');
    /** For each step of the script, the notifications that other processes queue before the calls of the step. */
    const queued: Readonly<Record<number, readonly number[]>> = {
      0: words(0, 3),
      1: words(3, 4),
      2: words(7, 2),
      3: words(9, 2),
      4: words(11, 2),
      9: words(14, 2),
      10: words(16, 2),
    };
    const criticals: Readonly<Record<number, number>> = { 6: 13, 11: 18 };
    using seen = await run(client, {
      mcpServers: { fixture: wrappedFixture(database) },
      script: [
        { calls: [{ mcp: 'fixture', tool: 'measure', args: { sensor: '7' } }] },
        { calls: [note('one'), { mcp: 'fixture', tool: 'save' }, output('small', 10)] },
        { calls: [output('20k', 20_000)] },
        { calls: [output('60k', 60_000)] },
        { calls: [output('200k', 200_000)] },
        { calls: [note('two')] },
        { calls: [note('refused-one')] },
        { calls: [pull] },
        { calls: [note('three')] },
        { calls: [note('four'), note('five'), note('six')] },
        { calls: [output('last', 20_000)] },
        { calls: [note('refused-two')] },
        { calls: [pull] },
        { calls: [note('seven')] },
        { text: 'ALL-DONE' },
      ],
      async onToolStep({ step, home }) {
        for (const n of queued[step] ?? []) await send(home, database, `${word(n)} something happened`, '--kind', `ci${n}.done`);
        const critical = criticals[step];
        if (critical !== undefined) await send(home, database, `${word(critical)} stop and look`, '--level', 'critical');
        if (step === 13) await send(home, database, `${word(19)} the last one`);
      },
    });
    expect({ exitCode: seen.exitCode, leftovers: seen.leftovers }).toEqual({ exitCode: 0, leftovers: [] });
    expect(countsOf(seen, words(0, 20), unflagged)).toEqual(all(words(0, 20), 1));
    // The refusal shows a critical notification. The agent then calls `get_notifications`, which shows the notification again,
    // marked as repeated.
    expect(countsOf(seen, [13, 18], most)).toEqual(all([13, 18], 2));
    for (const refused of ['NOTED-refused-one', 'NOTED-refused-two']) expect(most(seen, refused)).toBe(0);
    for (const made of ['NOTED-one', 'NOTED-three', 'NOTED-six', 'NOTED-seven', 'OUT-small']) expect(most(seen, made)).toBe(1);
    expect(most(seen, ', repeated')).toBe(0);
  });

  test('loses nothing when its gateway is killed', async () => {
    using folder = temporaryFolder();
    const database = path.join(folder.path, 'earpiece.db');
    const mcpServers = { fixture: wrappedFixture(database) };
    using first = await run(client, {
      mcpServers,
      script: [{ calls: [note('before')] }, { calls: [note('after')] }, { calls: [note('later')] }, { text: 'ALL-DONE' }],
      async onToolStep({ step, home }) {
        if (step !== 1) return;
        const gateways = processesOf(home).filter(({ command }) => command.includes(`${entry} gateway`));
        expect(gateways).not.toEqual([]);
        for (const { pid } of gateways) end(pid, 'SIGKILL');
        await send(home, database, `${word(0)} while no gateway runs`);
      },
    });
    expect(most(first, 'NOTED-before')).toBe(1);
    const restarts = RESTARTS_GATEWAY.has(client);
    expect([most(first, word(0)), most(first, 'NOTED-later')]).toEqual(restarts ? [1, 1] : [0, 0]);
    if (restarts) return;
    using second = await resumed(client, first, { mcpServers, script: [{ calls: [note('again')] }, { text: 'ALL-DONE' }] });
    expect(most(second, word(0))).toBe(1);
  });

  test('after it was killed, reads the waiting notifications once in its resumed session', async () => {
    using folder = temporaryFolder();
    const database = path.join(folder.path, 'earpiece.db');
    const mcpServers = { fixture: wrappedFixture(database) };
    using killed = await run(client, {
      mcpServers,
      script: [{ calls: [note('before')] }, { calls: [note('never-answered')] }, { text: 'ALL-DONE' }],
      async onToolStep({ step, home, kill }) {
        if (step !== 1) return;
        await send(home, database, `${word(0)} just before the kill`);
        await send(home, database, `${word(1)} hold on`, '--level', 'critical');
        kill('SIGKILL');
      },
    });
    expect(most(killed, 'NOTED-before')).toBe(1);
    await send(killed.home, database, `${word(2)} while nobody runs`);
    using second = await resumed(client, killed, {
      mcpServers,
      script: [
        { calls: [note('refused')] },
        { calls: [pull] },
        { calls: [note('again')] },
        { calls: [note('more')] },
        { text: 'ALL-DONE' },
      ],
    });
    // The gate is also up for the resumed session.
    expect(most(second, 'NOTED-refused')).toBe(0);
    expect(most(second, 'NOTED-again')).toBe(1);
    expect(countsOf(second, [0, 1, 2], unflagged)).toEqual(all([0, 1, 2], 1));
    expect(most(second, word(1))).toBe(2);
  });
});

const most = (seen: Run, marker: string): number => told(seen, marker);

/** Counts the marker without the parts that `get_notifications` marks as repeated. */
const unflagged = (seen: Run, marker: string): number => told(seen, marker, { unflagged: true });

const countsOf = (seen: Run, numbers: readonly number[], count: (seen: Run, marker: string) => number) =>
  Object.fromEntries(numbers.map((n) => [word(n), count(seen, word(n))]));
const all = (numbers: readonly number[], count: number) => Object.fromEntries(numbers.map((n) => [word(n), count]));

const resumed = (client: ClientName, { home }: Run, options: RunOptions): Promise<Run> =>
  run(client, { ...options, home, resume: true });

function temporaryFolder(): Disposable & { readonly path: string } {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-hosts-'));
  return { path: folder, [Symbol.dispose]: () => fs.rmSync(folder, { recursive: true, force: true }) };
}
