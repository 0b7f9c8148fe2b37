/**
 * Tests an installed Claude Code: after a command that opens a pull request, its model reads an offer to follow that pull
 * request.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { proves } from '../verifies.ts';
import { earpiece, entry } from './earpiece.ts';
import { temporaryDatabase } from './hooked.ts';
import { installClaude } from './installed.ts';
import { run } from './run.ts';
import { told } from './told.ts';

const PR = { number: 12, state: 'OPEN', title: 'Round once', url: 'https://github.com/acme/shop/pull/12' };

test('Claude Code runs the offer hook only for gh pr create and git push, and its model reads the offer once', async () => {
  proves('follow:offer');
  using database = temporaryDatabase();
  const asked = path.join(database.folder, 'asked');
  const calls = (): string => (fs.existsSync(asked) ? fs.readFileSync(asked, 'utf8') : '');
  // A script replaces `gh`, because this machine has no login to GitHub.
  const gh = `#!/bin/sh\necho "$*" >>'${asked}'\n[ "$2" = view ] && echo '${JSON.stringify(PR)}'\nexit 0\n`;
  fs.writeFileSync(path.join(database.folder, 'gh'), gh, { mode: 0o755 });
  const PATH = [database.folder, path.dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':');
  const env = { EARPIECE_DB: database.path, PATH };
  using seen = await run('claude', {
    env,
    mcpServers: { earpiece: { command: process.execPath, args: [entry, 'mcp'], env } },
    onPrepared: (home) => {
      installClaude(home);
      execFileSync('git', ['init', '-q', '-b', 'round'], { cwd: path.join(home, 'work') });
    },
    script: [
      { calls: [{ shell: 'echo one' }] },
      { calls: [{ shell: 'cd . && gh pr create --fill' }] },
      { calls: [{ shell: 'echo two' }] },
      { calls: [{ shell: 'git push --help >/dev/null; echo three' }] },
      { calls: [{ shell: 'echo four' }] },
      { text: 'END' },
    ],
    async onToolStep({ step, home }) {
      if (step === 1) expect(calls()).toBe('');
      if (step === 2)
        while (!(await earpiece(home, database.path, 'inbox', 'claude-code')).includes('acme/shop#12 is open')) await pause(100);
      if (step === 4) while (calls().split('pr view').length < 3) await pause(100);
    },
  });
  expect({ exitCode: seen.exitCode, leftovers: seen.leftovers }).toEqual({ exitCode: 0, leftovers: [] });
  expect(told(seen, 'pull request acme/shop#12 is open and not followed')).toBe(1);
  expect(calls().match(/pr view/gu)).toHaveLength(2);
});
