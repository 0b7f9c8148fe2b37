import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { address, entry, wrappedFixture } from './earpiece.ts';
import { find } from '../model/find.ts';
import { prefixChanges } from '../model/prefix.ts';
import { run } from './run.ts';
import { proves } from '../verifies.ts';

const [project = '', agent = ''] = address.split('/');

describe('Claude Code on a task that a person blocks', () => {
  proves('tasks:hosts');
  test('has its next call refused, reads the interrupt once, and ends the execution with its report', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-hosts-'));
    const database = path.join(folder, 'earpiece.db');
    /** Runs a person's command in another process. */
    const person = async (...args: readonly string[]): Promise<{ readonly [key: string]: unknown }> => {
      const at = { cwd: folder, env: { PATH: process.env['PATH'], HOME: folder, EARPIECE_DB: database }, timeout: 90_000 };
      const words = [entry, '--json', 'tasks', ...args, '--project', project];
      const { stdout } = await promisify(execFile)(process.execPath, words, at);
      return JSON.parse(stdout) as { [key: string]: unknown };
    };
    try {
      await person('add', '--to', agent, 'Take three notes');
      const fixture = (tool: string, args: Record<string, string> = {}) => ({ calls: [{ mcp: 'fixture', tool, args }] });
      using seen = await run('claude', {
        mcpServers: { fixture: wrappedFixture(database) },
        script: [
          fixture('get_next_action'),
          fixture('note', { text: 'one' }),
          fixture('note', { text: 'two' }),
          fixture('get_notifications'),
          fixture('report_completed', { result: 'blocked', summary: 'stopped as told' }),
          { text: 'ALL-DONE' },
        ],
        async onToolStep({ step }) {
          // The person blocks the task after the answer to the first note, and before the second note.
          if (step === 2) await person('status', 't1', 'blocked', '--as', 'Ann', '--reason', 'LEGAL-SAYS-NO');
        },
      });
      expect({ exitCode: seen.exitCode, leftovers: seen.leftovers, requests: seen.main.length }).toEqual({
        exitCode: 0,
        leftovers: [],
        requests: 6,
      });
      const result = (marker: string): number | undefined =>
        find(seen.main, marker).places.find((place) => place.result)?.result?.no;
      expect([result('Take three notes'), result('NOTED-one')]).toEqual([1, 2]);
      expect(find(seen.main, 'NOTED-two').inLast).toBe(0);
      // The next call after the person blocks the task is refused. `get_notifications` then returns the details.
      const refusal = find(seen.main, 'this call was not made, an interrupt came first');
      expect([refusal.counts, refusal.places[0]?.result?.no]).toEqual([[0, 0, 0, 1, 1, 1], 3]);
      expect(find(seen.main, 'is blocked: LEGAL-SAYS-NO').counts).toEqual([0, 0, 0, 1, 2, 2]);
      expect([result('"type":"interrupt"'), result('Already interrupted')]).toEqual([4, 5]);
      expect(prefixChanges(seen.main)).toEqual([]);

      expect(await person('show', 't1')).toMatchObject({
        status: 'blocked',
        statusChangedBy: { kind: 'person', name: 'Ann' },
        executions: [{ agent, result: 'blocked', exitCode: 1, message: 'Ann blocked the task: LEGAL-SAYS-NO' }],
      });
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });
});
