import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    dir: import.meta.dirname,
    include: ['**/*.test.ts'],
    // Each test starts whole agents, in a process of its own so that a signal ends the agents too. They wait for most of their time:
    // two at a time need half of it. More of them would wait for the processor, and a timeout of theirs be over.
    pool: 'forks',
    globalSetup: new URL('../built-setup.ts', import.meta.url).pathname,
    maxWorkers: 2,
    testTimeout: 500_000,
    retry: process.env['CI'] ? 1 : 0,
  },
});
