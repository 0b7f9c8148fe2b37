import { statSync } from 'node:fs';
import { readConfig, type Config, type LoadOptions } from './load.ts';
import { projectPlace, userConfigFile } from './places.ts';
import type { Problem } from './problems.ts';
import { trustFile } from './trust.ts';

/**
 * The configuration as it is now. No timer and no file watch: each `current` asks for the state of the few files that
 * could count, so a change counts from the next contact point, and there is nothing to close.
 */
export type ConfigWatch = { current(): Config };

export type WatchOptions = LoadOptions & {
  /**
   * Called with all problems once for each state of the files that has some, inside `current` or the first time inside
   * `watchConfig`. What it throws is ignored.
   */
  readonly onProblem?: (problems: readonly Problem[]) => void;
};

/**
 * At first what is right counts, beside what is wrong. After that a file that is wrong changes nothing: what counted
 * before counts on until the file is right. Where the repository's root is, is found out once.
 */
export function watchConfig(options: WatchOptions): ConfigWatch {
  const at = { env: options.env, home: options.home };
  const files = [...projectPlace(options.cwd).candidates, userConfigFile(at), trustFile(at)];
  const report = (problems: readonly Problem[]): void => {
    try {
      if (problems.length > 0) options.onProblem?.(problems);
    } catch {
      // A report that fails is not worth a delivery that fails.
    }
  };
  // Before reading: a change while reading is then seen by the next call.
  let state = stateOf(files);
  const first = readConfig(options);
  let config = first.config;
  report(first.problems);
  return {
    current: () => {
      const now = stateOf(files);
      if (now === state) return config;
      state = now;
      const next = readConfig(options);
      // What is wrong with variables and flags was said at first, and does not get right by changing a file.
      const problems = next.problems.filter((problem) => problem.file !== undefined);
      if (problems.length === 0) config = next.config;
      report(problems);
      return config;
    },
  };
}

/** Changes with the files' contents, as far as the file system tells. */
export function stateOf(files: readonly string[]): string {
  return files
    .map((file) => {
      try {
        const stat = statSync(file, { throwIfNoEntry: false });
        return stat === undefined ? '-' : `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`;
      } catch (cause) {
        return (cause as NodeJS.ErrnoException).code ?? 'error';
      }
    })
    .join('|');
}
