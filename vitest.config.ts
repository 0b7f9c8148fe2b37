import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { COMPILED } from './e2e/compiled.ts';

// The stages of the tests that start processes of Earpiece, a real browser or real database servers; `scripts/test.ts` runs each
// stage.
const PROCESSES = [
  'e2e/{agent,chat,cli,delivery,follow,gateway,handles,server,setup,sources,stores,system,tasks}/**/*.test.ts',
  'examples/demo/**/*.test.ts',
];
const CONSOLE = ['e2e/console/**/*.test.ts'];
const ENGINES = [
  'contracts/{moves,nats,nats-cluster,postgres-15,postgres-18}.test.ts',
  'e2e/fleet/**/*.test.ts',
  'e2e/stores/{migrate,migrate-refused,nats,postgres}.test.ts',
  'e2e/stores/faults/**/*.test.ts',
];
const globalSetup = './e2e/built-setup.ts';

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        // Unit tests change no global state, so a worker keeps the loaded modules for its next file.
        test: { name: 'unit', include: ['src/**/*.test.ts', 'console/src/**/*.test.ts'], isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'whole',
          include: ['{contracts,e2e,examples,bench,scripts}/**/*.test.ts'],
          exclude: [...PROCESSES, ...CONSOLE, ...ENGINES, 'e2e/hosts/**', 'node_modules/**'],
          globalSetup,
        },
      },
      { extends: true, test: { name: 'processes', include: PROCESSES, exclude: [...ENGINES, 'node_modules/**'], globalSetup } },
      { extends: true, test: { name: 'console', include: CONSOLE, globalSetup } },
      { extends: true, test: { name: 'engines', include: ENGINES, globalSetup } },
    ],
    reporters: ['default', './scripts/summary.ts'],
    // Most test files wait for processes or timers, so one more worker than cores is faster.
    maxWorkers: availableParallelism() + 1,
    env: COMPILED,
    // In CI, failed tests are retried, because a test may fail on a busy machine; `scripts/summary.ts` lists the retried tests. A
    // developer sees a failure at once.
    retry: process.env['CI'] ? 2 : 0,
    // This limit ends a test that hangs. A test that starts fifteen processes takes 5 s on an idle machine and 40 s on a busy
    // machine.
    testTimeout: 90_000,
    // vitest's default of one second for a poll is too short for a loaded machine, which may take longer to start one process.
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 90_000,
  },
});
