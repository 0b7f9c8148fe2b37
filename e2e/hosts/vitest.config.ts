import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Starts the file with the longest run first. Vitest starts the largest files first, so this file would otherwise run alone at
 * the end.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification): boolean => moduleId.endsWith('all-carriers.test.ts');
    const sorted = await super.sort(files);
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

export default defineConfig({
  test: {
    dir: import.meta.dirname,
    include: ['**/*.test.ts'],
    // Each test file starts whole agents. The file runs in a separate process, where a signal reaches the handler that ends the
    // agents. The agents wait most of the time, so two test files at a time take half as long. With more than two, tests would
    // wait for the processor and exceed their timeouts.
    pool: 'forks',
    globalSetup: new URL('../built-setup.ts', import.meta.url).pathname,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    testTimeout: 500_000,
    retry: process.env['CI'] ? 1 : 0,
  },
});
