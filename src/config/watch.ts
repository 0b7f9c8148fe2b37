import { statSync, type Stats } from 'node:fs';
import { readConfig, type Config, type LoadOptions } from './load.ts';
import { projectPlace, userConfigFile, type Surroundings } from './places.ts';
import type { Problem } from './problems.ts';
import { trustBook, trustFile } from './trust.ts';

/**
 * The current configuration, without a timer or a file watch: each call of `current` checks the few possible files. So the next
 * call returns a changed configuration, and nothing needs to be closed.
 */
export type ConfigWatch = { readonly current: () => Config };

export type WatchOptions = LoadOptions & {
  /**
   * Gets the problems, once for each state of the files with problems. `watchConfig` passes all problems of the first
   * read. `current` later passes only problems of files. Exceptions are ignored.
   */
  readonly onProblem?: (problems: readonly Problem[]) => void;
};

/**
 * Reads the configuration again after each change of its files. The first read uses the valid parts of an invalid file. Later, an
 * invalid file changes nothing. The earlier configuration is used until the file is valid, or until the user withdraws the trust
 * in the project's file. The list of watched files is made only once.
 */
export function watchConfig(options: WatchOptions): ConfigWatch {
  const at = { env: options.env, home: options.home };
  const files = [...projectPlace(options.cwd).candidates, userConfigFile(at), trustFile(at)];
  const report = (problems: readonly Problem[]): void => {
    try {
      if (problems.length > 0) options.onProblem?.(problems);
    } catch {
      // If reporting a problem fails, delivery must continue.
    }
  };
  // The state is taken before the read, so that the next call notices a change during the read.
  let state = stateOf(files);
  let settled = isSettled(files);
  const first = readConfig(options);
  let config = first.config;
  let trusted = isListed(config, at);
  let told = state + JSON.stringify(first.problems.filter((problem) => problem.file !== undefined));
  report(first.problems);
  return {
    current: () => {
      const now = stateOf(files);
      if (now === state && settled) return config;
      state = now;
      settled = isSettled(files);
      const next = readConfig(options);
      // Problems in variables and flags are left out: they were reported at the start, and changing a file does not fix them.
      const problems = next.problems.filter((problem) => problem.file !== undefined);
      // An invalid file changes nothing, except that withdrawing trust takes effect at once.
      const stillTrusted = isListed(config, at);
      if (problems.length === 0 || (trusted && !stillTrusted)) config = next.config;
      trusted = isListed(config, at);
      const telling = state + JSON.stringify(problems);
      if (telling !== told) report(problems);
      told = telling;
      return config;
    },
  };
}

/** Whether the project's file is in the list of trusted files. */
function isListed({ files }: Config, at: Surroundings): boolean {
  const project = files.find(({ scope }) => scope === 'project')?.file;
  return project !== undefined && trustBook(at).isListed(project);
}

/**
 * Whether the state of the files is reliable. File systems count time in steps of some milliseconds, so a second write of the
 * same length within a step leaves the state unchanged. Until the step has passed, only the content of the file shows such a
 * write.
 */
function isSettled(files: readonly string[]): boolean {
  const now = Date.now();
  return files.every((file) => {
    const written = statOf(file)?.mtimeMs;
    return written === undefined || Math.abs(now - written) > STEP_MS;
  });
}

const STEP_MS = 100;

/** Returns a text that changes when the file system shows a change of the files. */
export const stateOf = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stat = statOf(file);
      return stat === undefined ? '-' : `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`;
    })
    .join('|');

function statOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
