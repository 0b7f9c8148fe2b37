import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    dir: import.meta.dirname,
    include: ['**/*.test.ts'],
    // Each test starts whole agents: one at a time, in a process of its own so that a signal ends the agents too.
    pool: 'forks',
    fileParallelism: false,
    testTimeout: 500_000,
    retry: process.env['CI'] ? 1 : 0,
  },
});
