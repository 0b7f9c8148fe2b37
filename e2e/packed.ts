/** Packs the package with npm, and unpacks it with its dependencies only. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { isFresh } from '../scripts/sources.ts';

const root = join(import.meta.dirname, '..');
const bin = join(root, 'node_modules/.bin');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  files: readonly string[];
  dependencies: Record<string, string>;
};
const { version, files } = manifest;
export const { dependencies } = manifest;

/** Packs the package into the folder, and installs it into the folder's `app`. */
export function installPacked(folder: string): void {
  const source = join(folder, 'source');
  const app = join(folder, 'app');
  const installed = join(app, 'node_modules/earpiece');
  mkdirSync(source);
  for (const file of [
    'package.json',
    'README.md',
    'LICENSE',
    ...files.filter((name) => name !== 'dist' && !name.startsWith('!')),
  ])
    cpSync(join(root, file), join(source, file), { recursive: true });
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` };
  if (isFresh()) cpSync(join(root, 'dist'), join(source, 'dist'), { recursive: true });
  else {
    execFileSync(join(bin, 'tsdown'), ['--logLevel', 'error', '--out-dir', join(source, 'dist')], { cwd: root, env });
    const consoleArgs = ['build', '--config', join(root, 'console/vite.config.ts'), '--outDir', join(source, 'dist/console')];
    execFileSync(join(bin, 'vite'), [...consoleArgs, '--logLevel', 'error'], { cwd: root, env });
  }
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], { cwd: source, env });
  execFileSync('tar', ['-xzf', join(folder, `earpiece-${version}.tgz`), '-C', folder]);
  mkdirSync(dirname(installed), { recursive: true });
  // The app has its own package.json. Otherwise, `earpiece` could be the package of a parent folder.
  writeFileSync(join(app, 'package.json'), '{ "name": "app", "private": true }\n');
  cpSync(join(folder, 'package'), installed, { recursive: true });
  // An import of the package finds only the packages that package.json names.
  for (const name of Object.keys(dependencies)) link(app, name);
}

/** Links one more package into the app, from the node_modules of this repository. */
export function link(app: string, name: string): void {
  mkdirSync(dirname(join(app, 'node_modules', name)), { recursive: true });
  // A repeated test links the same package again.
  rmSync(join(app, 'node_modules', name), { force: true });
  symlinkSync(join(root, 'node_modules', name), join(app, 'node_modules', name));
}
