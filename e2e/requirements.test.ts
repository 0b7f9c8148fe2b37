import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { REQUIREMENTS, type RequirementId } from './requirements.ts';
import { proves } from './verifies.ts';

const root = join(import.meta.dirname, '..');
const ids = Object.keys(REQUIREMENTS) as RequirementId[];

/** Returns the ids that tests cite: `verifies('id'`, `proves('id', 'id'`. */
function cited(source: string): string[] {
  return [...source.matchAll(/\b(?:verifies\(\s*('[^']*')|proves\(([^)]*)\))/gu)].flatMap(([, one, many]) =>
    [...(one ?? many ?? '').matchAll(/'([^']*)'/gu)].map((match) => match[1] as string),
  );
}

const proved = new Set(
  ['src', 'contracts', 'e2e', 'examples', 'bench', 'scripts'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => (folder === 'contracts' ? file.endsWith('.ts') : file.endsWith('.test.ts')))
      .filter((file) => !(folder === 'e2e' && file === 'requirements.test.ts'))
      .flatMap((file) => cited(readFileSync(join(root, folder, file), 'utf8'))),
  ),
);

const PAGE = join(root, 'docs/guarantees.md');
const [BEGIN, END] = ['<!-- promises -->', '<!-- end of promises -->'];

/** Returns the ids that a page names in its text, outside of the generated table. */
const namedIn = (page: string): string[] => {
  const [before = '', rest = ''] = page.split(BEGIN);
  const text = before + (rest.split(END)[1] ?? '');
  return [...text.matchAll(/`([a-z]+:[a-z0-9-]+)`/gu)].map((match) => match[1] as string);
};

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

describe('promises', () => {
  test('each has a test that cites it', () => {
    expect(ids.filter((id) => !proved.has(id))).toEqual([]);
  });

  test('docs/guarantees.md cites only promises that exist', () => {
    const named = namedIn(readFileSync(PAGE, 'utf8'));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((id) => !(ids as string[]).includes(id))).toEqual([]);
  });

  test('a page names each promise; `--update` updates the table of docs/guarantees.md', async () => {
    const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));
    const named = new Set(pages.flatMap((file) => namedIn(readFileSync(join(root, 'docs', file), 'utf8'))));
    const rows = ids
      .filter((id) => !named.has(id))
      .toSorted()
      .map((id) => `| ${cell(REQUIREMENTS[id].behaviour)} | \`${id}\` |`);
    const [before = '', rest = ''] = readFileSync(PAGE, 'utf8').split(BEGIN);
    const table = ['', '| promise | id |', '|---|---|', ...rows, ''].join('\n');
    await expect(`${before}${BEGIN}\n${table}\n${END}${rest.split(END)[1] ?? ''}`).toMatchFileSnapshot(PAGE);
  });
});

describe('the search for cited promises, and proves()', () => {
  test('finds one id and several ids, across lines', () => {
    expect(cited("verifies(\n'a:b', () => {}); describe('x', () => { proves('c:d',\n 'e:f');")).toEqual(['a:b', 'c:d', 'e:f']);
  });

  test('reports a citation of an unknown promise', () => {
    expect(() => proves('gate:refuses', 'gate:sings' as RequirementId)).toThrow(
      'gate:sings is no promise of e2e/requirements.ts',
    );
    expect(() => proves('gate:refuses', 'gate:one-text')).not.toThrow();
  });
});
