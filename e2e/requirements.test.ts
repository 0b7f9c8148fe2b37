import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { REQUIREMENTS, type RequirementId } from './requirements.ts';
import { proves } from './verifies.ts';

const root = join(import.meta.dirname, '..');
const ids = Object.keys(REQUIREMENTS) as RequirementId[];

/** Ids cited by the sources of tests: `verifies('id'`, `proves('id', 'id'`. */
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

describe('promises', () => {
  test('each has a test that cites it', () => {
    expect(ids.filter((id) => !proved.has(id))).toEqual([]);
  });

  test('docs/guarantees.md cites promises that exist', () => {
    const page = readFileSync(join(root, 'docs/guarantees.md'), 'utf8');
    const named = [...page.matchAll(/`([a-z]+:[a-z0-9-]+)`/gu)].map((match) => match[1] as string);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((id) => !(ids as string[]).includes(id))).toEqual([]);
  });
});

describe('the scan and the citation', () => {
  test('one id and several are found, across lines', () => {
    expect(cited("verifies(\n'a:b', () => {}); describe('x', () => { proves('c:d',\n 'e:f');")).toEqual(['a:b', 'c:d', 'e:f']);
  });

  test('a citation of what is no promise is an error', () => {
    expect(() => proves('gate:refuses', 'gate:sings' as RequirementId)).toThrow(
      'gate:sings is no promise of e2e/requirements.ts',
    );
    expect(() => proves('gate:refuses', 'gate:one-text')).not.toThrow();
  });
});
