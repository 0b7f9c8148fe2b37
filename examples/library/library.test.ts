import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { COMPILED } from '../../e2e/compiled.ts';
import { proves } from '../../e2e/verifies.ts';

const here = import.meta.dirname;
const examples = readdirSync(here).filter(
  (name) => name.endsWith('.ts') && readFileSync(join(here, name), 'utf8').includes('\n// Output:\n'),
);
/** A separate home: the test reads no configuration of the user, and leaves nothing in the user's home. */
const home = mkdtempSync(join(tmpdir(), 'library-test-'));
afterAll(() => rmSync(home, { recursive: true }));
const env = { PATH: process.env['PATH'], TMPDIR: home, HOME: home, ...COMPILED };

test('the folder has library examples', () => {
  expect(examples).toEqual([
    'agent.ts',
    'events.ts',
    'gateway.ts',
    'own-loop.ts',
    'producer.ts',
    'receipt.ts',
    'saved-loop.ts',
    'server.ts',
  ]);
});

test.each(examples)('%s prints its documented output', (name) => {
  if (name === 'saved-loop.ts') proves('library:rebuild');
  const ran = spawnSync(process.execPath, ['--import', join(here, 'from-source.ts'), join(here, name)], {
    encoding: 'utf8',
    env,
  });
  expect({ code: ran.status, stderr: ran.stderr }).toEqual({ code: 0, stderr: '' });
  expect(settled(ran.stdout)).toBe(outputOf(name));
  expect(readdirSync(home).filter((left) => left.startsWith('earpiece-'))).toEqual([]);
});

/** Returns the expected output, which is the comment at the end of the file. */
function outputOf(name: string): string {
  const [, comment = ''] = readFileSync(join(here, name), 'utf8').split('\n// Output:\n');
  return comment.replaceAll(/^\/\/ ?/gmu, '');
}

/** The mark is random and the time changes, but the examples show fixed values. */
const settled = (output: string): string =>
  output.replaceAll(/\[(\/?)ep \w{4}\]/g, '[$1ep k7f3]').replaceAll(/last \d\d:\d\d/g, 'last 10:32');
