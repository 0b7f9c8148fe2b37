import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { COMPILED } from './e2e/compiled.ts';

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        // They decide from values and leave nothing behind: a worker keeps what it has loaded for the next file.
        test: { name: 'unit', include: ['src/**/*.test.ts', 'console/src/**/*.test.ts'], isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ['{contracts,e2e,examples,bench,scripts}/**/*.test.ts'],
          exclude: ['e2e/hosts/**', 'node_modules/**'],
          globalSetup: './e2e/built-setup.ts',
        },
      },
    ],
    reporters: ['default', './scripts/summary.ts'],
    // Most files wait for processes and for moments: one worker more than there are cores.
    maxWorkers: availableParallelism() + 1,
    env: COMPILED,
    // A loaded machine in CI decides nothing alone; `scripts/summary.ts` says what needed it. A developer sees a failure at once.
    retry: process.env['CI'] ? 2 : 0,
    // It ends what hangs, and no test waits for it: one that starts fifteen processes takes 5 s alone and 40 s beside others.
    testTimeout: 90_000,
    // vitest's default of one second for a poll is too short for a loaded machine, which may take longer to start one process.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 90_000,
  },
});
