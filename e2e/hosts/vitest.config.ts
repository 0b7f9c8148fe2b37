import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    dir: import.meta.dirname,
    include: ['**/*.test.ts'],
    // Each test starts whole agents, in its own process so that a signal ends the agents too. They wait most of the time: two at
    // a time take half as long. More than two would wait for the processor and exceed their timeouts.
    pool: 'forks',
    globalSetup: new URL('../built-setup.ts', import.meta.url).pathname,
    maxWorkers: 2,
    testTimeout: 500_000,
    retry: process.env['CI'] ? 1 : 0,
  },
});
