/** What is built into the package. */
import { makeProgram } from '../../src/cli/program.ts';
import { wrongSnippets } from '../snippets.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { verifies } from '../verifies.ts';

const folder = join(import.meta.dirname, '../../dist/console');
const MAX_BYTES = 150_000;

const files = (): { name: string; bytes: Buffer }[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ name: entry.name, bytes: readFileSync(join(entry.parentPath, entry.name)) }));

verifies('console:small', 'SC: all files together are under 150 kB gzipped', () => {
  const size = files().reduce((sum, { bytes }) => sum + gzipSync(bytes, { level: 9 }).length, 0);
  expect(size).toBeGreaterThan(10_000);
  expect(size).toBeLessThan(MAX_BYTES);
});

verifies('console:small', 'the page has nothing inline, and nothing in it is of another server', () => {
  const html =
    files()
      .find(({ name }) => name === 'index.html')
      ?.bytes.toString() ?? '';
  expect(html).toContain('<script type="module"');
  expect(html.match(/<script(?![^>]*\bsrc=)[^>]*>/gu)).toBeNull();
  expect(html.match(/<style|\sstyle=|\son[a-z]+=/gu)).toBeNull();
  for (const { name, bytes } of files().filter((file) => /\.(?:html|css|svg)$/u.test(file.name)))
    expect(
      (bytes.toString().match(/(?:https?:)?\/\/[\w.-]+/gu) ?? []).filter((url) => url !== 'http://www.w3.org'),
      name,
    ).toEqual([]);
});

verifies('console:teaches', 'each command that the console shows to be copied exists', () => {
  const root = join(import.meta.dirname, '../..');
  const sources = readdirSync(join(root, 'console/src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.tsx'),
  );
  const commands = sources.flatMap((file) =>
    [
      ...readFileSync(join(root, 'console/src', file), 'utf8').matchAll(
        /<Command text=(?:"(?<plain>[^"]+)"|\{(?<quote>['`])(?<quoted>.+?)\k<quote>\})/gu,
      ),
    ].map(({ groups }) =>
      (groups?.['plain'] ?? groups?.['quoted'] ?? '')
        .replaceAll('${client}', 'claude')
        .replaceAll(/\$\{word\(.*?\)\}/gu, 'shop/coder'),
    ),
  );
  const ours = commands.filter((command) => command.startsWith('earpiece'));
  expect(ours.length).toBeGreaterThan(6);
  const page = ours.map((command) => `\`\`\`sh\n${command}\n\`\`\``).join('\n');
  expect(wrongSnippets('console', page, { root, scripts: new Set(), program: makeProgram(() => undefined) })).toEqual([]);
});
