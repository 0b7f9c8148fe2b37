/**
 * Bundles the command line and the programs that tests start often, once for all tests of a run. A bundle starts with half the
 * processor time of the sources. The folder's name contains the hash of its inputs. So no test starts an older bundle, and runs
 * of different sources do not share a folder.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { build } from 'tsdown';
import type { TestProject } from 'vitest/node';
import { hashOfSources } from '../scripts/sources.ts';
import configs from '../tsdown.config.ts';
import { PROGRAMS } from './built.ts';

const ROOT = join(import.meta.dirname, '..');
const BUILDS = join(ROOT, '.cache/built');
const HERE = { config: false, cwd: ROOT, clean: false, logLevel: 'error' } as const;
const A_DAY_MS = 24 * 3_600_000;

export default async function setup(project: TestProject): Promise<void> {
  process.env['EARPIECE_TEST_CLI'] = await built();
  project.onTestsRerun(async () => {
    process.env['EARPIECE_TEST_CLI'] = await built();
  });
}

/** Builds the bundle if it does not exist, and returns the path of its `main.js`. */
export async function built(): Promise<string> {
  const folder = join(BUILDS, hashOfSources('{src,e2e/stores}'));
  if (!existsSync(folder)) await make(folder);
  const now = new Date();
  utimesSync(folder, now, now);
  return join(folder, 'dist/cli/main.js');
}

async function make(folder: string): Promise<void> {
  mkdirSync(BUILDS, { recursive: true });
  removeOld();
  const making = mkdtempSync(join(BUILDS, 'making-'));
  // Configurations with types are for the library, which tests import from its sources.
  for (const config of configs.filter(({ dts }) => dts === false))
    await build({ ...config, ...HERE, outDir: join(making, 'dist') });
  await build({
    ...HERE,
    entry: PROGRAMS,
    outDir: join(making, 'dist/programs'),
    platform: 'node',
    fixedExtension: false,
    dts: false,
  });
  // Some tests run this bundle as another user.
  chmodSync(making, 0o755);
  cpSync(join(ROOT, 'package.json'), join(making, 'package.json'));
  // The plugin is copied and not linked, because it finds the command line at `../../dist`. Through a link, that path would lead
  // to the repository's `dist`.
  cpSync(join(ROOT, 'claude-plugin'), join(making, 'claude-plugin'), { recursive: true });
  symlinkSync(join(ROOT, 'subscribers'), join(making, 'subscribers'));
  symlinkSync(join(ROOT, 'dist/console'), join(making, 'dist/console'));
  try {
    renameSync(making, folder);
  } catch (error) {
    // Another run has already built the same files.
    rmSync(making, { recursive: true });
    if (!existsSync(folder)) throw error;
  }
}

function removeOld(): void {
  for (const name of readdirSync(BUILDS)) {
    const folder = join(BUILDS, name);
    if (Date.now() - statSync(folder).mtimeMs > A_DAY_MS) rmSync(folder, { recursive: true, force: true });
  }
}
