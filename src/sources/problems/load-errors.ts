/**
 * Finds out when `mocha --watch` could not load a file. Mocha then runs no test, and prints the error without a line for the
 * beginning or the end of the run. So each such error is the only error of its run.
 */
export class LoadErrors {
  #isWatching = false;
  /** Whether the last line belongs to the stack trace of an error that occurred while Node.js loaded a file. */
  #isLoading = false;
  #isInStack = false;

  /** Reads the next line. Returns whether the line is the first line after the stack trace of such an error. */
  read(line: string): boolean {
    if (WATCHING.test(line)) this.#isWatching = true;
    const [wasInStack, isStack] = [this.#isInStack, STACK.test(line)];
    // `#isLoading` does not depend on `#isWatching`: for the first error, only the last line of the stack trace may show that
    // mocha watches files.
    this.#isLoading = isStack && (this.#isLoading || LOADING.test(line));
    this.#isInStack = this.#isLoading && this.#isWatching;
    return wasInStack && !isStack;
  }

  /** Ends the stack trace at a silence of the program. Returns whether the last lines were about such an error. */
  silent(): boolean {
    const isInStack = this.#isInStack;
    this.#isInStack = false;
    return isInStack;
  }
}

const STACK = /^\s+at /u;
/** A line of a stack trace that is in Node's CommonJS loader. */
const LOADING = /^\s+at .*\(node:internal\/modules\/cjs\/loader:/u;
const WATCHING = /\[mocha\] waiting for changes|^\s+at .*[\\/]mocha[\\/]lib[\\/]cli[\\/]watch-run\./u;
