import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isIdle, waiterFile } from './working.ts';

const HOST = { pid: 77, startedAt: '5' };
const MINUTE_MS = 60_000;
const USER = { type: 'user', message: { content: 'go on' } };
const CALL = { type: 'assistant', message: { content: [{ type: 'tool_use' }] } };
const BLOCKED = { type: 'system', content: 'UserPromptSubmit operation blocked by hook:\n[x]: no' };

type Given = {
  readonly workedMsAgo?: number;
  /** The delay between the work and its record by the hook. */
  readonly lateMs?: number;
  readonly entry?: object;
  /** Returns the content of Claude Code's file about its process. */
  readonly own?: (workedAt: number) => string;
};

/** Returns the answer of `isIdle` for an agent that has worked since its waiting process began. */
function idle({ workedMsAgo = 1_000, lateMs = 0, entry = USER, own }: Given): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-working-'));
  try {
    const at = new Date(Date.now() - workedMsAgo);
    const transcript = join(folder, 'config/projects/p/s.jsonl');
    const files = [
      [`${waiterFile(folder, HOST)}.work`, `${at.getTime() + lateMs} ${at.getTime()}`],
      [transcript, JSON.stringify({ ...entry, timestamp: new Date(at.getTime() + 1).toISOString() })],
      [join(folder, 'config/sessions/77.json'), own?.(at.getTime())],
    ] as const;
    for (const [file, text] of files) {
      if (text === undefined) continue;
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      utimesSync(file, at, at);
    }
    return isIdle(folder, HOST, { since: at.getTime() - 1, transcript });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const own =
  (status: string, afterMs: number) =>
  (workedAt: number): string =>
    JSON.stringify({ status, statusUpdatedAt: workedAt + afterMs });

describe('a Claude Code that has worked since its waiting process began', () => {
  it.each<[string, Given, boolean]>([
    ['works', {}, false],
    ['is idle if its own file says so since the work', { own: own('idle', 500) }, true],
    ['works if its own file was idle before the work', { own: own('idle', -1_000) }, false],
    ['works if its own file says busy', { own: own('busy', 500) }, false],
    ['works if its own file says waiting', { own: own('waiting', 500) }, false],
    ['works if its own file is broken', { own: () => '{' }, false],
    ['works if its own file has no object', { own: () => 'null' }, false],
    ['works if its own file has no time', { own: () => '{"status":"idle"}' }, false],
    ['is idle after a blocked prompt', { entry: BLOCKED }, true],
    ['is idle after a prompt that was blocked before the work was recorded', { entry: BLOCKED, lateMs: 300 }, true],
    ['is idle if its own file says so since before the work was recorded', { own: own('idle', 100), lateMs: 300 }, true],
    ['works while nothing has changed for 4 minutes', { workedMsAgo: 4 * MINUTE_MS }, false],
    ['is idle when nothing has changed for 6 minutes', { workedMsAgo: 6 * MINUTE_MS }, true],
    ['works while a tool runs for 6 minutes', { workedMsAgo: 6 * MINUTE_MS, entry: CALL }, false],
  ])('%s', (_, given, expected) => {
    expect(idle(given)).toBe(expected);
  });
});
