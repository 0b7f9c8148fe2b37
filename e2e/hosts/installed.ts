/** Sets up Claude Code as a person does. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { entry } from './earpiece.ts';
import { binaryOf } from './pins.ts';

/** Runs `earpiece install claude` as a person does, with this Claude Code on the PATH. */
export function installClaude(home: string): void {
  const { status, stderr } = spawnSync(process.execPath, [entry, 'install', 'claude', '--yes'], {
    cwd: path.join(home, 'work'),
    env: {
      PATH: [path.dirname(binaryOf('claude')), path.dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
      HOME: home,
      XDG_STATE_HOME: path.join(home, '.local/state'),
      XDG_CONFIG_HOME: path.join(home, '.config'),
    },
    encoding: 'utf8',
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const settings = JSON.parse(fs.readFileSync(path.join(home, '.claude/settings.json'), 'utf8')) as {
    hooks: Record<string, { hooks: { type: string }[] }[]>;
  };
  const typesAt = (event: string) => settings.hooks[event]?.flatMap(({ hooks }) => hooks.map(({ type }) => type));
  expect([typesAt('PostToolBatch'), typesAt('PreToolUse')]).toEqual([['mcp_tool'], ['command']]);
}
