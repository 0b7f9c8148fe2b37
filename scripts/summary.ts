/**
 * A vitest reporter for programs that read the output: the last line of a run is `N passed, N failed`. A file that does not load
 * and an error outside of any test count as failures, and so does a run that fails for another reason. A test that passed only at
 * a second try has a defect, too. So the reporter names each such test before the last line, with its first failure.
 */
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

export default class Summary implements Reporter {
  #passed = 0;
  #failed = 0;
  #flaky: readonly TestCase[] = [];

  onInit(): void {
    process.once('exit', (code) => {
      const failed = code !== 0 && this.#failed === 0 ? 1 : this.#failed;
      for (const test of this.#flaky) process.stdout.write(said(test));
      process.stdout.write(`${this.#passed} passed, ${failed} failed\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const broken = modules.filter(
      (module) => module.state() === 'failed' && [...module.children.allTests('failed')].length === 0,
    );
    this.#flaky = tests.filter((test) => test.diagnostic()?.flaky === true);
    this.#passed = tests.filter((test) => test.result().state === 'passed').length;
    this.#failed = tests.filter((test) => test.result().state === 'failed').length + broken.length + unhandled.length;
  }
}

function said(test: TestCase): string {
  const why = (test.result().errors ?? []).map(({ message, stack = '' }) => {
    const ours = stack.split('\n').filter((line) => line.includes(' at ') && !line.includes('node_modules'));
    return `  ${message}\n${ours.join('\n')}`.trimEnd();
  });
  return `passed only when tried again: ${test.module.relativeModuleId} > ${test.fullName}\n${why.join('\n')}\n`;
}
