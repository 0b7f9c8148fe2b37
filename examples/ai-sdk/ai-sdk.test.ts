import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMPILED } from '../../e2e/compiled.ts';

const here = import.meta.dirname;

test.each(['agent.ts', 'streaming.ts', 'saving.ts'])('%s prints its documented output', (name) => {
  const home = mkdtempSync(join(tmpdir(), 'ai-sdk-example-'));
  try {
    const args = ['--import', join(here, '../library/from-source.ts'), join(here, name)];
    const env = { PATH: process.env['PATH'], HOME: home, ...COMPILED };
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: home, encoding: 'utf8', env });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const [, output = ''] = readFileSync(join(here, name), 'utf8').split('\n// Output:\n');
    expect(stdout.replaceAll(/\[(\/?)ep \w{4}\]/g, '[$1ep k7f3]')).toBe(output.replaceAll(/^\/\/ ?/gmu, ''));
  } finally {
    rmSync(home, { recursive: true });
  }
});

test('an AI SDK program needs five lines for the adapter', () => {
  const [, region = ''] =
    /\/\/ #region five-lines\n([\s\S]*?)\/\/ #endregion/u.exec(readFileSync(join(here, 'agent.ts'), 'utf8')) ?? [];
  expect(region.split('\n').filter((line) => line.trim() !== '')).toHaveLength(5);
});
