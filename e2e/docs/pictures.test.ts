/**
 * Tests the pictures of the pages. `vitest run e2e/docs/pictures.test.ts --update` generates the picture of the README and the
 * diagram of the rooms again.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOMS } from '../layers/layers.ts';
import { roomsDiagram } from './rooms.ts';
import { drawn, story } from './story.ts';

const root = join(import.meta.dirname, '../..');

test('the picture of the README is a real run', async () => {
  await expect(drawn(await story())).toMatchFileSnapshot(join(root, 'docs/images/story.svg'));
}, 60_000);

test('the diagram of the rooms in ARCHITECTURE.md equals the diagram of the layer test', async () => {
  const file = join(root, 'ARCHITECTURE.md');
  const page = readFileSync(file, 'utf8').replace(
    /(<!-- made: rooms -->\n)[^]*?(<!-- made -->)/u,
    (_all, head: string, end: string) => `${head}\n${roomsDiagram(ROOMS)}\n\n${end}`,
  );
  await expect(page).toMatchFileSnapshot(file);
});

test('ARCHITECTURE.md has a line for each room, and the picture shows each room', () => {
  const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `([\w-]+)` \|/gmu)].map(([, room = '']) => room);
  expect(rows.toSorted()).toEqual(Object.keys(ROOMS).toSorted());
});

test('files that ARCHITECTURE.md names exist', () => {
  const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
  const named = [...page.matchAll(/`((?:src|e2e|contracts|console)\/[\w./-]+)`/gu)].map(([, file = '']) => file);
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

/**
 * All diagrams of all pages, including those of delivery.md, plan.md, identity.md, gate.md and events.md. Plots are left out,
 * because they show only figures.
 */
const diagrams = globSync(['*.md', 'docs/**/*.md'], { cwd: root })
  .flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/^```mermaid\n([^]*?)^```/gmu)].map(([, text = '']) => ({ page, text })),
  )
  .filter(({ text }) => !text.includes('\nxychart-beta\n'));

test.each(diagrams)('the diagram of $page uses only names that exist in the code', ({ text }) => {
  expect(text).toMatch(/^(?:flowchart (?:LR|TB)|stateDiagram-v2|sequenceDiagram)\n/u);
  const source = globSync('src/**/*.ts', { cwd: root })
    .filter((file) => !file.includes('.test.'))
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');
  const words = text.match(/\b[a-z]+(?:_[a-z]+)+\b/gu) ?? [];
  expect(words.filter((word) => !source.includes(`'${word}'`) && !source.includes(`${word}:`))).toEqual([]);
});
