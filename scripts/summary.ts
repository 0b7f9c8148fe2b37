/**
 * A vitest reporter for whoever reads the output by machine: the last line of a run is `N passed, N failed`, alone. A file
 * that does not load and an error outside of any test count as failures; so does a run that ends badly without either.
 */
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

export default class Summary implements Reporter {
  #passed = 0;
  #failed = 0;

  onInit(): void {
    process.once('exit', (code) => {
      const failed = code !== 0 && this.#failed === 0 ? 1 : this.#failed;
      process.stdout.write(`${this.#passed} passed, ${failed} failed\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const broken = modules.filter(
      (module) => module.state() === 'failed' && [...module.children.allTests('failed')].length === 0,
    );
    this.#passed = tests.filter((test) => test.result().state === 'passed').length;
    this.#failed = tests.filter((test) => test.result().state === 'failed').length + broken.length + unhandled.length;
  }
}
