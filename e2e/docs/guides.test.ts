/**
 * Tests the sessions in the guides, which are recorded: `vitest run e2e/docs/guides.test.ts --update` records the sessions
 * again.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { played } from './terminal.ts';

const docs = join(import.meta.dirname, '../../docs');
const mark = '<!-- tested by e2e/docs/guides.test.ts -->';
const pages = globSync('**/*.md', { cwd: docs }).filter((page) => readFileSync(join(docs, page), 'utf8').includes(mark));

test('terminal sessions are in exactly the expected pages', () => {
  // hear-about-ci.md, stop-an-agent.md … are named here because a snippet's test must name its page.
  expect(pages.map((page) => page.split('/').at(-1) ?? '').toSorted()).toEqual([
    'gate.md',
    'hear-about-ci.md',
    'run-it-for-a-team.md',
    'stop-an-agent.md',
    'troubleshooting.md',
  ]);
});

test.each(pages)(
  'the terminal sessions of %s equal a real run',
  async (page) => {
    const file = join(docs, page);
    await expect(await played(readFileSync(file, 'utf8'))).toMatchFileSnapshot(file);
  },
  120_000,
);
