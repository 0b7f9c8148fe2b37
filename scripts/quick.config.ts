import { defineConfig } from 'vitest/config';

/** The tests of `npm run check`: they decide from values and end in seconds. */
export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    include: [
      'src/{core,config,inbox}/**/*.test.ts',
      'console/src/**/*.test.ts',
      'e2e/{docs/*,layers/layers,requirements,snippets}.test.ts',
    ],
    // They leave nothing behind: a worker keeps what it has loaded for the next file.
    isolate: false,
    globalSetup: './e2e/built-setup.ts',
    reporters: ['default', './scripts/summary.ts'],
    // As where all run: vitest's own 5 s are over on a machine that is slow enough.
    testTimeout: 90_000,
    hookTimeout: 90_000,
  },
});
