/** Which Earpiece the tests start: the bundled one that `built-setup.ts` made of these sources; outside of vitest the sources. */
import { join } from 'node:path';

export const SOURCES = join(import.meta.dirname, '../src/cli/main.ts');

export const CLI = process.env['EARPIECE_TEST_CLI'] ?? SOURCES;

/** The folder of its package.json. */
export const PACKAGE = join(CLI, '../../..');
