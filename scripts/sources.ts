/** Hashes the sources of a build, so that a build of unchanged sources can be skipped. */
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const BUILT = ['dist/index.js', 'dist/index.d.ts', 'dist/cli/main.js', 'dist/console/index.html'].map((file) => join(ROOT, file));
const NOTE = join(ROOT, '.cache/dist');

export function hashOfSources(folder: '{src,e2e/stores}' | '{src,console}' = '{src,console}'): string {
  const hash = createHash('sha256');
  const sources = globSync(`${folder}/**/*`, { cwd: ROOT, withFileTypes: true, exclude: ['**/*.test.ts'] })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const others = ['tsdown.config.ts', 'tsconfig.json', 'package.json', 'package-lock.json'].map((file) => join(ROOT, file));
  for (const file of [...sources.toSorted(), ...others]) hash.update(`${file}\n`).update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

/** Whether `dist` was built from the current sources, and its main files have not changed since then. */
export function isFresh(): boolean {
  return BUILT.every((file) => existsSync(file)) && existsSync(NOTE) && readFileSync(NOTE, 'utf8') === note();
}

export function noteBuild(): void {
  mkdirSync(dirname(NOTE), { recursive: true });
  writeFileSync(NOTE, note());
}

const note = (): string => [hashOfSources(), ...BUILT.map((file) => statSync(file).mtimeMs)].join(' ');
