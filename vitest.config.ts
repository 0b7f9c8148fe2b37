import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { COMPILED } from './e2e/compiled.ts';

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        // Unit tests leave nothing behind, so a worker keeps the loaded modules for its next file.
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
    // Most files wait for processes or timers, so one worker more than there are cores is faster.
    maxWorkers: availableParallelism() + 1,
    env: COMPILED,
    // A busy CI machine alone must not fail a test; `scripts/summary.ts` lists the retried tests. A developer sees a failure at
    // once.
    retry: process.env['CI'] ? 2 : 0,
    // This limit ends a test that hangs. A test that starts fifteen processes takes 5 s alone and 40 s on a busy machine.
    testTimeout: 90_000,
    // vitest's default of one second for a poll is too short for a loaded machine, which may take longer to start one process.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 90_000,
  },
});
