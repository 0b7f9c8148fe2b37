/** Real agents that use only their built-in tools, with our hooks: what the model reads, and which calls the gate stops. */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { address, hookCommand, send } from './earpiece.ts';
import { told } from './told.ts';
import { run } from './run.ts';

const EVENTS = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolBatch', 'Stop', 'SessionEnd'];

describe('Claude Code with hooks and built-in tools', () => {
  test('reads each notification once, and a critical denies the next call', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-hooks-'));
    const database = path.join(folder, 'earpiece.db');
    const command = hookCommand('claude', database);
    try {
      using seen = await run('claude', {
        hooks: { commands: Object.fromEntries(EVENTS.map((event) => [event, command])) },
        env: { EARPIECE_ADDRESS: address },
        script: [
          { calls: [{ shell: 'echo one' }] },
          { calls: [{ shell: 'echo two' }, { shell: 'false' }] },
          { calls: [{ shell: 'touch refused' }] },
          { calls: [{ shell: 'touch allowed' }] },
          { text: 'ALL-DONE' },
        ],
        async onToolStep({ step, home }) {
          if (step === 0) await send(home, database, 'WORD-00 the build ended');
          if (step === 1) await send(home, database, 'WORD-01 the tests failed', '--level', 'error');
          if (step === 2) await send(home, database, 'WORD-02 stop and look', '--level', 'critical');
        },
      });
      expect({ exitCode: seen.exitCode, leftovers: seen.leftovers }).toEqual({ exitCode: 0, leftovers: [] });
      expect(['WORD-00', 'WORD-01', 'WORD-02'].map((word) => told(seen, word))).toEqual([1, 1, 1]);
      expect(['refused', 'allowed'].map((file) => fs.existsSync(path.join(seen.home, 'work', file)))).toEqual([false, true]);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });
});
