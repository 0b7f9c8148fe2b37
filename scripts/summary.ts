/**
 * Reports a vitest run for programs that read the output: the last line of a run is `N passed, N failed`. A file that does not
 * load counts as a failure. An error outside of any test, and a run that fails for another reason, also count. A test that
 * passed only at a retry may have a defect, too. So the reporter names each such test before the last line, with its failures.
 *
 * vitest's time limits cannot end a test whose worker never returns to its event loop. If no test ends for a long time, the
 * reporter names the unfinished tests and ends the run.
 */
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

/** The longest time without an ended test, which is longer than the time limit of any test. */
const STUCK_AFTER_MS = Number(process.env['EARPIECE_TEST_STUCK_MS'] ?? 10 * 60_000);

export default class Summary implements Reporter {
  #passed = 0;
  #failed = 0;
  #flaky: readonly TestCase[] = [];
  readonly #modules = new Set<TestModule>();
  readonly #tests = new Set<TestCase>();
  #timer: NodeJS.Timeout | undefined;

  onInit(): void {
    process.once('exit', (code) => {
      const failed = code !== 0 && this.#failed === 0 ? 1 : this.#failed;
      for (const test of this.#flaky) process.stdout.write(said(test));
      process.stdout.write(`${this.#passed} passed, ${failed} failed\n`);
    });
  }

  onTestModuleStart(module: TestModule): void {
    this.#modules.add(module);
    this.#moved();
  }

  onTestModuleEnd(module: TestModule): void {
    this.#modules.delete(module);
    this.#moved();
  }

  onTestCaseReady(test: TestCase): void {
    this.#tests.add(test);
    this.#moved();
  }

  onTestCaseResult(test: TestCase): void {
    this.#tests.delete(test);
    if (test.result().state === 'passed') this.#passed += 1;
    else if (test.result().state === 'failed') this.#failed += 1;
    this.#moved();
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    clearTimeout(this.#timer);
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const broken = modules.filter(
      (module) => module.state() === 'failed' && [...module.children.allTests('failed')].length === 0,
    );
    this.#flaky = tests.filter((test) => test.diagnostic()?.flaky === true);
    this.#passed = tests.filter((test) => test.result().state === 'passed').length;
    this.#failed = tests.filter((test) => test.result().state === 'failed').length + broken.length + unhandled.length;
  }

  #moved(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stuck(), STUCK_AFTER_MS);
  }

  #stuck(): void {
    process.stdout.write(`no test has ended for ${STUCK_AFTER_MS / 1_000} s, so the run ends here; unfinished:\n`);
    for (const { relativeModuleId } of this.#modules) process.stdout.write(`  ${relativeModuleId}\n`);
    for (const test of this.#tests) process.stdout.write(`  ${test.module.relativeModuleId} > ${test.fullName}\n`);
    this.#failed += Math.max(1, this.#tests.size);
    // oxlint-disable-next-line unicorn/no-process-exit -- vitest waits for its workers, and one worker does not answer
    process.exit(1);
  }
}

function said(test: TestCase): string {
  const why = (test.result().errors ?? []).map(({ message, stack = '' }) => {
    const ours = stack.split('\n').filter((line) => line.includes(' at ') && !line.includes('node_modules'));
    return `  ${message}\n${ours.join('\n')}`.trimEnd();
  });
  return `passed only when tried again: ${test.module.relativeModuleId} > ${test.fullName}\n${why.join('\n')}\n`;
}
