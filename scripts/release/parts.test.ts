import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { deadLinks, manifestOf, refusals, sizes } from './parts.ts';

const folder = mkdtempSync(join(tmpdir(), 'release-'));
afterAll(() => rmSync(folder, { recursive: true }));

const FILLED = {
  repository: 'git+https://example.org/e.git',
  homepage: 'https://example.org',
  bugs: 'https://example.org/b',
  branch: 'main',
};
const EMPTY = { repository: '', homepage: '', bugs: '', branch: 'main' };

test('a release is refused if a field is not filled, on another branch, and with changed files', () => {
  expect(refusals({ publisher: FILLED, branch: 'main', changed: '' })).toEqual([]);
  expect(refusals({ publisher: { ...FILLED, bugs: ' ' }, branch: 'topic', changed: ' M a.ts' })).toEqual([
    'publisher.json has no bugs; fill it in',
    'this is branch topic; releases are made from main',
    'files are changed and not committed:\n M a.ts',
  ]);
});

test('the published package.json has the filled fields of the owner, and no fields that only the repository needs', () => {
  const manifest = { name: 'earpiece', scripts: { prepare: 'x' }, devDependencies: { y: '1' }, allowScripts: {} };
  expect(manifestOf(manifest, EMPTY)).toEqual({ name: 'earpiece' });
  // A field that `refusals` calls unfilled is not published either.
  expect(manifestOf(manifest, { ...EMPTY, repository: ' ', homepage: '\n', bugs: '\t' })).toEqual({ name: 'earpiece' });
  expect(manifestOf(manifest, FILLED)).toEqual({
    name: 'earpiece',
    repository: { type: 'git', url: 'git+https://example.org/e.git' },
    homepage: 'https://example.org',
    bugs: { url: 'https://example.org/b' },
  });
});

test('dead links of pages are found, except in code; sizes are summed by folder', () => {
  const at = join(folder, 'package');
  mkdirSync(join(at, 'docs/deep'), { recursive: true });
  writeFileSync(
    join(at, 'README.md'),
    '[a](docs/a.md#x) [b](docs/b.md) [c](https://example.org) `[d](d.md)` <img src="docs/e.png">',
  );
  writeFileSync(join(at, 'docs/a.md'), '[up](../README.md)\n```\n[x](gone.md)\n```\n[folder](deep)');
  writeFileSync(join(at, 'docs/deep/c.md'), '[side](../../src/index.ts)');
  expect(deadLinks(at).toSorted()).toEqual([
    'README.md: docs/b.md',
    'README.md: docs/e.png',
    'docs/deep/c.md: ../../src/index.ts',
  ]);
  execFileSync('tar', ['-czf', 'p.tgz', 'package/README.md', 'package/docs/a.md', 'package/docs/deep/c.md'], { cwd: folder });
  expect(sizes(join(folder, 'p.tgz')).files).toMatchObject({
    total: 3,
    folders: [
      ['README.md', { count: 1 }],
      ['docs/', { count: 2 }],
    ],
  });
});
