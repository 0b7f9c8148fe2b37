import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { wholeProgram } from '../src/cli/commander.ts';
import { wrongSnippets, type Known } from './snippets.ts';
import { proves, verifies } from './verifies.ts';

const root = join(import.meta.dirname, '..');
const { scripts, exports: exported } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
  exports: Record<string, unknown>;
};
const known: Known = { root, scripts: new Set(Object.keys(scripts)), program: await wholeProgram() };
const pages = globSync(['*.md', 'docs/**/*.md', 'examples/README.md'], { cwd: root }).filter((page) => page !== 'CHANGELOG.md');

verifies('package:snippets', () => {
  expect(pages).toContain('README.md');
  expect(pages.flatMap((page) => wrongSnippets(page, readFileSync(join(root, page), 'utf8'), known))).toEqual([]);
});

test('links lead to existing files and headings', () => {
  const dead = pages.flatMap((page) =>
    linksOf(readFileSync(join(root, page), 'utf8'))
      .filter((to) => !leads(page, to))
      .map((to) => `${page} links to ${to}`),
  );
  expect(dead).toEqual([]);
  expect(leads('README.md', 'docs/none.md')).toBe(false);
  expect(leads('docs/config.md', 'sources.md#nothing-like-it')).toBe(false);
  expect(leads('docs/subscribers.md', '#the-shipped-ones')).toBe(true);
});

test('the README links the index, which links every page; the README is short, names every subpath, and its counts are right', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const index = readFileSync(join(root, 'docs/README.md'), 'utf8');
  const led = new Set(linksOf(index).map((to) => join('docs', to.split('#')[0] ?? '')));
  expect(linksOf(readme)).toContain('docs/README.md');
  expect(pages.filter((page) => page !== 'docs/README.md' && !page.startsWith('docs/adr/0') && !led.has(page))).toEqual([]);
  expect(readme.split('\n').length).toBeLessThan(120);

  const named = Object.keys(exported).filter((path) => path.startsWith('./') && path !== './package.json');
  const library = readFileSync(join(root, 'docs/library.md'), 'utf8');
  expect(named.filter((path) => !library.includes(`| \`earpiece${path.slice(1)}\` |`))).toEqual([]);

  const shipped = globSync('subscribers/*.toml', { cwd: root }).length;
  expect(readme.replaceAll(/\s+/gu, ' ')).toContain(`The package contains ${shipped} subscribers`);
});

test('a page that shows a subscriber shows its template too', () => {
  const missing = pages.flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    const shown = [...text.matchAll(/<!-- from (\S+)\/[^/\s]+\.toml -->\n```toml\n(.*?)\n```/gsu)];
    return shown.flatMap(([, folder, toml = '']) => {
      const template = /^template = "(.+)"$/mu.exec(toml)?.[1];
      return template === undefined || text.includes(`<!-- from ${folder}/${template} -->`) ? [] : `${page} lacks ${template}`;
    });
  });
  expect(missing).toEqual([]);
});

test('pages name only metrics that exist', () => {
  const there = readFileSync(join(root, 'src/server/metrics.ts'), 'utf8');
  const named = pages.flatMap(
    (page) => readFileSync(join(root, page), 'utf8').match(/\bearpiece_\w+_(?:total|seconds)\b/gu) ?? [],
  );
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !there.includes(`${name}:`))).toEqual([]);
});

/** Links to pages, pictures and files of this repository. No test checks links to the web. */
const linksOf = (page: string): string[] =>
  [...page.matchAll(/(?:\]\(|src=")(?!https?:)([^)"]+)/gu)].map(([, to]) => to as string);

function leads(page: string, link: string): boolean {
  const [path = '', heading] = link.split('#');
  const file = path === '' ? join(root, page) : join(root, dirname(page), path);
  return existsSync(file) && (heading === undefined || anchorsOf(readFileSync(file, 'utf8')).includes(heading));
}

/** Returns the anchors that GitHub makes of headings. */
const anchorsOf = (page: string): string[] =>
  [...page.replaceAll(/^```[^]*?^```/gmu, '').matchAll(/^#+ (.+)$/gmu)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

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
])('the check finds each fault in %j', (page, wrong) => {
  proves('package:snippets');
  expect(wrongSnippets('page.md', page, known)).toEqual(wrong);
});
