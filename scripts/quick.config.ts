import { defineConfig } from 'vitest/config';

/** Configures the tests of `npm run check`, all of which take seconds. */
export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: [
      'src/{core,config,inbox}/**/*.test.ts',
      'console/src/**/*.test.ts',
      'e2e/{docs/*,layers/layers,requirements,snippets}.test.ts',
    ],
    // Only `npm test` runs the slowest tests.
    exclude: [
      'src/config/{change,edit}.test.ts',
      'src/core/json.test.ts',
      'src/core/views/{hostile,look-alikes,properties}.test.ts',
      'src/inbox/housekeeping/archive.test.ts',
      'e2e/docs/{guides,pictures}.test.ts',
    ],
    // These tests change no global state, so a worker keeps the loaded modules for its next file.
    isolate: false,
    globalSetup: './e2e/built-setup.ts',
    reporters: ['default', './scripts/summary.ts'],
    // The limit is the same as in the full run: vitest's own 5 s are too short on a slow machine.
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});
