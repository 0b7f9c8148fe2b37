import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { send, wrappedFixture } from './earpiece.ts';
import { find } from '../model/find.ts';
import { prefixChanges } from '../model/prefix.ts';
import { run, type Run } from './run.ts';
import { raise, raised } from './signal-file.ts';
import { proves } from '../verifies.ts';

describe.for(['claude', 'codex'] as const)('%s behind the gateway', (client) => {
  proves('hosts:claude-code', 'hosts:codex', 'hosts:shapes');
  test('reads each notification once, in the next result that the client does not cut', async () => {
    using folder = temporaryFolder();
    const database = path.join(folder.path, 'earpiece.db');
    let duringBuild: Promise<void> | undefined;
    using seen = await run(client, {
      mcpServers: { fixture: wrappedFixture(database) },
      script: [
        { calls: [{ mcp: 'fixture', tool: 'measure', args: { sensor: '7' } }] },
        { calls: [{ mcp: 'fixture', tool: 'save' }] },
        { calls: [{ mcp: 'fixture', tool: 'export' }] },
        { calls: [{ mcp: 'fixture', tool: 'note', args: { text: 'exported' } }] },
        { calls: [{ mcp: 'fixture', tool: 'build', args: { folder: folder.path } }] },
        { calls: [{ mcp: 'fixture', tool: 'note', args: { text: 'built' } }] },
        { text: 'ALL-DONE' },
      ],
      async onToolStep({ step, home }) {
        const queue = (message: string, ...options: string[]) => send(home, database, message, ...options);
        if (step === 0) await queue('BEFORE-MEASURE the tests turned red');
        if (step === 1) await queue('BEFORE-SAVE the disk is full', '--level', 'error', '--kind', 'tool.failed');
        if (step === 2) await queue('BEFORE-EXPORT main moved on', '--id', 'main-moved');
        // A second queueing with the same id queues no second notification.
        if (step === 3) await queue('BEFORE-EXPORT main moved on', '--id', 'main-moved');
        if (step === 4)
          duringBuild = (async () => {
            await raised(path.join(folder.path, 'started'), 90_000);
            await queue('DURING-BUILD a file that was read has changed', '--level', 'warning');
            raise(path.join(folder.path, 'finish'));
          })();
      },
    });
    await duringBuild;

    expect(endOf(seen)).toEqual({ exitCode: 0, leftovers: [], answered: true, requests: 7 });
    expect(resultsOf(seen, ['SENSOR-7', 'DISK-FULL', 'EXPORT-BEGIN', 'NOTED-exported', 'BUILD-DONE', 'NOTED-built'])).toEqual([
      1, 2, 3, 4, 5, 6,
    ]);
    expect(deliveries(seen, ['BEFORE-MEASURE', 'BEFORE-SAVE', 'BEFORE-EXPORT', 'DURING-BUILD'])).toEqual({
      'BEFORE-MEASURE': { counts: [0, 1, 1, 1, 1, 1, 1], result: 1 },
      'BEFORE-SAVE': { counts: [0, 0, 1, 1, 1, 1, 1], result: 2 },
      // Both clients cut the end of a result of 60 kB, so the next result carries the notification. Claude Code cuts above 50,000
      // characters, Codex above 12,000 bytes (48,000 with some models).
      'BEFORE-EXPORT': { counts: [0, 0, 0, 0, 1, 1, 1], result: 4 },
      'DURING-BUILD': { counts: [0, 0, 0, 0, 0, 1, 1], result: 5 },
    });
    expect(prefixChanges(seen.main)).toEqual([]);
  });

  test('reads a notification once, even if two servers of the conversation are wrapped', async () => {
    using folder = temporaryFolder();
    const database = path.join(folder.path, 'earpiece.db');
    const both = (text: string) => ({
      calls: ['one', 'two'].map((mcp) => ({ mcp, tool: 'note', args: { text: `${text}-${mcp}` } })),
    });
    using seen = await run(client, {
      mcpServers: { one: wrappedFixture(database), two: wrappedFixture(database) },
      script: [both('first'), both('second'), { text: 'ALL-DONE' }],
      onToolStep: ({ step, home }) => send(home, database, step === 0 ? 'WORD-ONE the build ended' : 'WORD-TWO it ended again'),
    });

    expect(endOf(seen)).toEqual({ exitCode: 0, leftovers: [], answered: true, requests: 3 });
    // Parallel results arrive in any order.
    const results = new Set(resultsOf(seen, ['NOTED-first-one', 'NOTED-first-two', 'NOTED-second-one', 'NOTED-second-two']));
    expect(results).toEqual(new Set([1, 2, 3, 4]));
    expect(deliveries(seen, ['WORD-ONE', 'WORD-TWO'])).toEqual({
      'WORD-ONE': { counts: [0, 1, 1], result: expect.toBeOneOf([1, 2]) as number },
      'WORD-TWO': { counts: [0, 0, 1], result: expect.toBeOneOf([3, 4]) as number },
    });
    expect(prefixChanges(seen.main)).toEqual([]);
  });
});

const endOf = (seen: Run) => ({
  exitCode: seen.exitCode,
  leftovers: seen.leftovers,
  answered: seen.stdout.includes('ALL-DONE'),
  requests: seen.main.length,
});

// Returns, for each marker, how often each request contains the marker, and the number of the tool result with the marker.
const deliveries = (seen: Run, markers: readonly string[]) =>
  Object.fromEntries(
    markers.map((marker) => {
      const { counts, places } = find(seen.main, marker);
      return [marker, { counts, result: places[0]?.result?.no }];
    }),
  );

const resultsOf = (seen: Run, markers: readonly string[]) =>
  markers.map((marker) => find(seen.main, marker).places.find((place) => place.result)?.result?.no);

function temporaryFolder(): Disposable & { readonly path: string } {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-hosts-'));
  return { path: folder, [Symbol.dispose]: () => fs.rmSync(folder, { recursive: true, force: true }) };
}
