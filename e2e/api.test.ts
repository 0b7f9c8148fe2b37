/**
 * Tests the exported names of the package, as `api/` lists them, and the types of the HTTP API. `scripts/api.ts` compares
 * `api/` with the build.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { outdated } from '../scripts/wire.ts';
import { proves } from './verifies.ts';

const root = join(import.meta.dirname, '..');
const pages = ['docs/library.md', 'docs/ai-sdk.md', 'docs/write-a-store.md']
  .map((page) => readFileSync(join(root, page), 'utf8'))
  .join('\n');
const inCode = [...pages.matchAll(/`([^`\n]+)`/gu)].map(([, code = '']) => code).join('\n');

const exported = (file: string): readonly string[] => {
  const [, names = ''] = /^export \{\n([^}]*)\};$/mu.exec(readFileSync(join(root, 'api', file), 'utf8')) ?? [];
  return [...names.matchAll(/(?:type )?(\w+),/gu)].map(([, name = '']) => name);
};

it.each(readdirSync(join(root, 'api')))('a page names each export of %s', (file) => {
  proves('package:surface');
  const names = exported(file);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !new RegExp(String.raw`\b${name}\b`, 'u').test(inCode))).toEqual([]);
});

it('the types of the HTTP API match its schemas', () => {
  proves('package:surface');
  expect(outdated()).toEqual([]);
});
