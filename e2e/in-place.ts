/** Installs the package into a separate folder as `npm install -g` does, and upgrades the package in place. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { PACKAGE } from './built.ts';
import { startRegistry, type Manifest } from './registry.ts';

const ROOT = join(import.meta.dirname, '..');

const DEPENDENCIES: readonly string[] = Object.keys(
  (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly dependencies: object }).dependencies,
);

/** Copies the package into the folder, with links to its dependencies. Returns the path of the command line's file. */
export function installInto(folder: string): string {
  mkdirSync(dirname(folder), { recursive: true });
  cpSync(PACKAGE, folder, { recursive: true, verbatimSymlinks: true });
  for (const name of DEPENDENCIES) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  return join(folder, 'dist/cli/main.js');
}

/** Replaces the package by another version in the same place, whose chunks in `dist` have other names. */
export function upgrade(folder: string): void {
  const manifest = join(folder, 'package.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"version": "[^"]+"/u, `"version": "${UPGRADED}"`));
  const files = readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
  const parts = files.filter((name) => name.startsWith('chunks/')).map((name) => name.slice('chunks/'.length));
  for (const name of files.filter((each) => !each.startsWith('console/'))) {
    const file = join(folder, 'dist', name);
    const text = parts.reduce((each, part) => each.replaceAll(`/${part}"`, `/new-${part}"`), readFileSync(file, 'utf8'));
    writeFileSync(file, text);
    if (name.startsWith('chunks/')) renameSync(file, join(dirname(file), `new-${basename(file)}`));
  }
}

export const UPGRADED = '99.0.0';

/**
 * Starts a registry on loopback with the package of this folder. The dependencies of the package come from this machine, so npm
 * queries no other registry.
 */
export async function startRegistryOf(packageFolder: string, tarballs: string) {
  const manifest = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as Manifest;
  execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', tarballs], { cwd: packageFolder });
  const tarball = join(tarballs, readdirSync(tarballs).find((name) => name.endsWith('.tgz')) ?? '');
  const dependencies = Object.fromEntries(DEPENDENCIES.map((name) => [name, `file:${join(ROOT, 'node_modules', name)}`]));
  const registry = await startRegistry({ ...manifest, dependencies, optionalDependencies: {}, peerDependencies: {} }, tarball);
  return { ...registry, version: manifest.version };
}
