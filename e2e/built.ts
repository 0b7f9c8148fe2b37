/**
 * Names the Earpiece that the tests start: the bundle that `built-setup.ts` made from these sources. Outside of vitest, the
 * tests start the sources.
 */
import { join } from 'node:path';

export const SOURCES = join(import.meta.dirname, '../src/cli/main.ts');

export const CLI = process.env['EARPIECE_TEST_CLI'] ?? SOURCES;

/** Test programs that start very often, by the names of their bundles. */
export const PROGRAMS = {
  'faults-worker': 'e2e/stores/faults/worker.ts',
  'store-appender': 'e2e/stores/appender.ts',
  'store-writer': 'e2e/stores/writer.ts',
} as const;

/** Returns the path of a program. Reads the environment at each call, because a program may make the bundle itself. */
export function programOf(name: keyof typeof PROGRAMS): string {
  const cli = process.env['EARPIECE_TEST_CLI'] ?? SOURCES;
  return cli === SOURCES ? join(import.meta.dirname, '..', PROGRAMS[name]) : join(cli, `../../programs/${name}.js`);
}

/** The folder with the package.json of this Earpiece. */
export const PACKAGE = join(CLI, '../../..');
