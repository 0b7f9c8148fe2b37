import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { CLI } from '../../e2e/built.ts';
import { COMPILED } from '../../e2e/compiled.ts';
import { verifies } from '../../e2e/verifies.ts';

const home = mkdtempSync(join(tmpdir(), 'earpiece-subscriber-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const says = (...args: string[]): string =>
  execFileSync(process.execPath, [CLI, 'subscribers', ...args], {
    encoding: 'utf8',
    cwd: import.meta.dirname,
    env: { HOME: home, ...COMPILED },
  });

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');

verifies(
  'bus:checked',
  'the example of docs/subscribers.md is valid, and makes the notifications that the page shows from its events',
  () => {
    expect(says('check', 'build.toml')).toBe('build.toml is fine\n');
    expect(says('test', 'build.toml', 'events.json')).toBe(read('output.txt'));
  },
);
