/** Tests a real Claude Code that works while Earpiece is upgraded in place: its hooks, its MCP server and its waiter continue. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { installInto, upgrade, UPGRADED } from '../in-place.ts';
import { proves } from '../verifies.ts';
import { binaryOf } from './pins.ts';
import { run } from './run.ts';
import { told } from './told.ts';

const packageIn = (home: string): string => path.join(home, 'lib/node_modules/earpiece');

function earpiece(home: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [path.join(packageIn(home), 'dist/cli/main.js'), ...args], {
    cwd: path.join(home, 'work'),
    env: {
      PATH: [path.dirname(binaryOf('claude')), path.dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
      HOME: home,
      XDG_CONFIG_HOME: path.join(home, '.config'),
      XDG_STATE_HOME: path.join(home, '.local/state'),
    },
    encoding: 'utf8',
  });
  expect({ args, status, stderr }).toEqual({ args, status: 0, stderr: '' });
  return stdout;
}

test('notifications arrive once before and after an upgrade, and a pause denies the next call', async () => {
  proves('hosts:lasting');
  const send = (home: string, ...args: readonly string[]): string => earpiece(home, 'send', '--to', 'claude-code', ...args);
  using seen = await run('claude', {
    script: [
      { calls: [{ shell: 'touch one' }] },
      { calls: [{ shell: 'touch two' }] },
      { calls: [{ shell: 'touch three' }] },
      { calls: [{ shell: 'touch four' }] },
      { calls: [{ shell: 'touch refused' }] },
      { text: 'ALL-DONE' },
    ],
    onPrepared(home) {
      installInto(packageIn(home));
      earpiece(home, 'install', 'claude', '--yes');
      // The run takes its servers from this file alone.
      const { mcpServers } = JSON.parse(fs.readFileSync(path.join(home, '.claude.json'), 'utf8')) as { mcpServers: object };
      fs.writeFileSync(path.join(home, 'mcp.json'), JSON.stringify({ mcpServers }));
    },
    onToolStep({ step, home }) {
      if (step === 1) send(home, 'WORD-BEFORE');
      if (step === 2) upgrade(packageIn(home));
      if (step === 3) send(home, 'WORD-AFTER');
      if (step === 4) send(home, 'WORD-PAUSE', '--action', 'pause', '--level', 'critical');
    },
  });
  expect({ exitCode: seen.exitCode, leftovers: seen.leftovers }).toEqual({ exitCode: 0, leftovers: [] });
  expect(earpiece(seen.home, '--version')).toBe(`${UPGRADED}\n`);
  expect(['BEFORE', 'AFTER', 'PAUSE'].map((word) => told(seen, `WORD-${word}`))).toEqual([1, 1, 1]);
  expect(fs.readdirSync(path.join(seen.home, 'work'))).not.toContain('refused');
});
