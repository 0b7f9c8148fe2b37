/** Tests that the console's commands for a terminal reach the server's log, and name the installed clients. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { shellInfo } from '../../src/cli/shell.ts';
import { readConfig } from '../../src/config/index.ts';
import type { ShellInfo } from '../../src/wire/api.ts';
import { verifies } from '../verifies.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'earpiece shell '));
  mkdirSync(join(folder, 'bin'));
  for (const [name, mode] of [
    ['codex', 0o755],
    ['opencode', 0o755],
    ['claude', 0o644],
  ] as const) {
    writeFileSync(join(folder, 'bin', name), '#!/bin/sh\n');
    chmodSync(join(folder, 'bin', name), mode);
  }
  mkdirSync(join(folder, 'bin/gemini'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const told = (
  env: Record<string, string>,
  { db, entry = '/usr/bin/earpiece' }: { db?: string; entry?: string } = {},
): ShellInfo => {
  const all = { HOME: folder, XDG_CONFIG_HOME: join(folder, 'config'), XDG_STATE_HOME: join(folder, 'state'), ...env };
  const at = { cwd: process.cwd(), env: all, ...(db === undefined ? {} : { flags: { db } }) };
  return shellInfo(readConfig(at).config, all, ['/opt/node', entry]);
};

verifies('console:teaches', 'commands are short if a plain terminal reaches the same log, and complete otherwise', () => {
  expect(told({}).earpiece).toBe('earpiece');
  const file = join(folder, 'other.db');
  expect(told({ EARPIECE_DB: file }).earpiece).toBe(`earpiece --db '${file}'`);
  expect(told({}, { db: file }).earpiece).toBe(`earpiece --db '${file}'`);
  expect(told({}, { entry: '/srv/app/src/cli/main.ts' }).earpiece).toBe('/opt/node /srv/app/src/cli/main.ts');
  expect(told({ EARPIECE_DB: 'postgres://me:secret@host/db' }).earpiece).toBe('earpiece');
});

verifies('console:teaches', 'only clients that can be started count as found', () => {
  expect(told({ PATH: `/nowhere:${join(folder, 'bin')}` }).clients).toEqual(['codex', 'opencode']);
  expect(told({}).clients).toEqual([]);
});
