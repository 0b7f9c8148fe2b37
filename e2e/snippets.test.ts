import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProgram } from '../src/cli/program.ts';
import { wrongSnippets, type Known } from './snippets.ts';
import { proves, verifies } from './verifies.ts';

const root = join(import.meta.dirname, '..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const known: Known = { root, scripts: new Set(Object.keys(scripts)), program: makeProgram(() => undefined) };
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).filter((page) => page !== 'CHANGELOG.md');

verifies('package:snippets', () => {
  expect(pages).toContain('README.md');
  expect(pages.flatMap((page) => wrongSnippets(page, readFileSync(join(root, page), 'utf8'), known))).toEqual([]);
});

test('links lead to files that are there', () => {
  const dead = pages.flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/gu)]
      .filter(([, to]) => !existsSync(join(root, dirname(page), to as string)))
      .map(([, to]) => `${page} links to ${to}`),
  );
  expect(dead).toEqual([]);
});

test.each([
  [
    '<!-- from examples/first/main.ts -->\n```ts\nconsole.log(1);\n```',
    ['page.md:2 is not what examples/first/main.ts says now'],
  ],
  ['<!-- from examples/none.ts -->\n```ts\n```', ['page.md:2 says it is from examples/none.ts, which is not there']],
  ['```toml\na = 1\n```', ['page.md:1 is toml from nowhere; copy it from a tested file and say <!-- from path --> above it']],
  [
    '<!-- tested by e2e/snippets.ts -->\n```toml\n```',
    ['page.md:2 says it is tested by e2e/snippets.ts, which does not read this page'],
  ],
  ['```sh\nearpiece sned hello\n```', ['page.md:1 there is no command earpiece sned']],
  ['```\nnpm test || earpiece send --lvl error "npm test failed"\n```', ['page.md:1 send has no option --lvl']],
  [
    '```sh\nnpm run nothing\nrm -rf /\n```',
    ['page.md:1 there is no npm run nothing', 'page.md:1 "rm -rf /" is no command that a test knows'],
  ],
  ['```sh\n$ earpiece gateway --print claude -- npx --any thing # a comment\nnpm run check\n```', []],
])('seen: %j', (page, wrong) => {
  proves('package:snippets');
  expect(wrongSnippets('page.md', page, known)).toEqual(wrong);
});
