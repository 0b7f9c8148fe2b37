/** Checks that at least one test names each row of the bus's first design: each story, requirement and criterion. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { REQUIREMENTS } from '../requirements.ts';

const root = join(import.meta.dirname, '../..');
const many = (count: number, name: (n: number) => string): string[] => Array.from({ length: count }, (_, at) => name(at + 1));

const ROWS = [
  ...['1abc', '2abc', '3abc', '4ab', '5abc', '6abc'].flatMap(([story = '', ...scenes]) =>
    scenes.map((scene) => `US${story}(${scene})`),
  ),
  ...many(31, (n) => `FR-${String(n).padStart(3, '0')}`),
  ...many(8, (n) => `SC-00${n}`),
];

/** The names in titles of tests, and in the promises that tests cite. */
const named = [
  ...['src', 'e2e', 'examples'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.test.ts') && !file.endsWith('fifth-design.test.ts'))
      .map((file) => readFileSync(join(root, folder, file), 'utf8')),
  ),
  ...Object.values(REQUIREMENTS).map(({ behaviour }) => behaviour),
].join('\n');

/** The ranges such as `FR-007..012`, which name all rows from the first to the last. */
const spans = [...named.matchAll(/FR-(\d{3})\.\.(\d{3})/gu)].map(([, from, to]) => [Number(from), Number(to)] as const);
const inSpan = (row: string): boolean =>
  row.startsWith('FR-') && spans.some(([from, to]) => Number(row.slice(3)) >= from && Number(row.slice(3)) <= to);

it('each row of the design is named by a test', () => {
  expect(ROWS).toHaveLength(17 + 31 + 8);
  expect(ROWS.filter((row) => !named.includes(row) && !inSpan(row))).toEqual([]);
});
