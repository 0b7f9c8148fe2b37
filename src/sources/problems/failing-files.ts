/**
 * Finds out which test files still fail, for a tool that does not name the files that pass. After a run of some files, such a
 * tool counts all failing files, including files that failed before and did not run again.
 */
import { posix } from 'node:path';
import { relativeImports } from './imports.ts';
import type { Counted } from './matcher.ts';
import type { Problem } from './problem.ts';

/** The maximum number of failed files that are kept. */
const MAX_FILES = 10_000;

type Earlier = { readonly problem: Problem };
type Files<T> = {
  /** Whether the file of a problem has changed since the problem was printed. */
  readonly hasChanged: (each: T) => boolean;
  /** Returns the lines of a file, or undefined if the file cannot be read. */
  readonly sourceOf: (file: string) => readonly string[] | undefined;
};

export class FailingFiles {
  /** The files that failed in earlier rounds, at most `MAX_FILES`. */
  readonly #known = new Set<string>();
  /** The files that have failed in this round. */
  readonly #now = new Set<string>();
  /** The number of files that fail after this round. */
  #count: number | undefined;
  /** The file whose change has begun this round. */
  #rerun: string | undefined;

  /** Adds the facts that a line of the tool shows. */
  read({ failed, count, rerun }: Counted): void {
    if (failed !== undefined) this.#now.add(failed);
    this.#count = count ?? this.#count;
    this.#rerun = rerun ?? this.#rerun;
  }

  /** Begins the next round. */
  begin(): void {
    for (const file of this.#now) if (this.#known.size < MAX_FILES) this.#known.add(file);
    this.#now.clear();
    this.#count = undefined;
    this.#rerun = undefined;
  }

  /** Returns the problems of earlier rounds that may still be there, although this round did not print them. */
  left<T extends Earlier>(earlier: readonly T[], files: Files<T>): readonly T[] {
    // A round that did not begin with a change has run all files.
    if (this.#rerun === undefined) return [];
    const isCounted = (each: T): boolean => this.#known.has(fileOf(each));
    const failing = this.#failing(earlier.filter(isCounted), files);
    return earlier.filter((each) =>
      isCounted(each) ? failing.has(fileOf(each)) : nameOf(fileOf(each)) !== this.#rerun && !files.hasChanged(each),
    );
  }

  /**
   * Returns the earlier failing files that this round did not name as failed and that are not known to be fixed. A file in doubt
   * counts as failing.
   */
  #failing<T extends Earlier>(earlier: readonly T[], { hasChanged, sourceOf }: Files<T>): ReadonlySet<string> {
    const failing = new Set(earlier.map(fileOf).filter((file) => !this.#now.has(file)));
    if (this.#count === undefined) return failing;
    const count = this.#count - this.#now.size;
    if (count <= 0) return new Set();
    const rerun = this.#rerun ?? '';
    // Each function selects files that have run, or have probably run. If at least `count` other files remain, the selected files
    // no longer fail.
    for (const hasRun of [
      (file: string) => nameOf(file) === rerun,
      (file: string) => imports(nameOf(file), rerun, sourceOf),
      (file: string) => earlier.some((each) => fileOf(each) === file && hasChanged(each)),
    ]) {
      const gone = [...failing].filter(hasRun);
      if (failing.size - gone.length < count) break;
      for (const file of gone) failing.delete(file);
    }
    return failing;
  }
}

/** Returns the test file of a problem, with the name of its vitest project. */
const fileOf = ({ problem }: Earlier): string => problem.test?.split(' > ', 1)[0] ?? '';

/** Returns the path of a test file without the name of its vitest project. */
const nameOf = (file: string): string => file.split(' ').at(-1) ?? file;

/** Whether a file imports more than types from another file. Both paths start at the same folder. */
function imports(file: string, other: string, sourceOf: (file: string) => readonly string[] | undefined): boolean {
  const lines = (sourceOf(file) ?? []).filter((line) => !TYPES.test(line));
  return relativeImports(lines.join('\n')).some((path) => stem(posix.join(posix.dirname(file), path)) === stem(other));
}

const TYPES = /\btype\b/u;

const stem = (path: string): string => path.replace(/\.[cm]?[jt]sx?$/u, '');
