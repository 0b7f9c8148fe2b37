import { statSync, type Stats } from 'node:fs';
import { readConfig, type Config, type LoadOptions } from './load.ts';
import { projectPlace, userConfigFile, type Surroundings } from './places.ts';
import type { Problem } from './problems.ts';
import { trustBook, trustFile } from './trust.ts';

/**
 * The current configuration. It has no timer and no file watch: each `current` checks the state of the few possible files. A
 * change takes effect at the next contact point, and there is nothing to close.
 */
export type ConfigWatch = { readonly current: () => Config };

export type WatchOptions = LoadOptions & {
  /**
   * Called with all problems once for each state of the files that has any, inside `current` or the first time inside
   * `watchConfig`. Its exceptions are ignored.
   */
  readonly onProblem?: (problems: readonly Problem[]) => void;
};

/**
 * The first read uses the valid parts beside invalid ones. Later, an invalid file changes nothing: the earlier configuration
 * stays until the file is valid. The repository's root is determined only once.
 */
export function watchConfig(options: WatchOptions): ConfigWatch {
  const at = { env: options.env, home: options.home };
  const files = [...projectPlace(options.cwd).candidates, userConfigFile(at), trustFile(at)];
  const report = (problems: readonly Problem[]): void => {
    try {
      if (problems.length > 0) options.onProblem?.(problems);
    } catch {
      // A failed report must not fail a delivery.
    }
  };
  // Taken before reading, so that the next call sees a change during the read.
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
      // Problems of variables and flags were reported at the start. Changing a file does not fix them.
      const problems = next.problems.filter((problem) => problem.file !== undefined);
      // An invalid file changes nothing, with one exception: withdrawing trust takes effect at once.
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

/** The project's file is in the book of trusted files. */
function isListed({ files }: Config, at: Surroundings): boolean {
  const project = files.find(({ scope }) => scope === 'project')?.file;
  return project !== undefined && trustBook(at).isListed(project);
}

/**
 * File systems count time in steps of some milliseconds. A second write of the same length within a step leaves the same
 * stamp. Until the step is over, only reading shows it.
 */
function isSettled(files: readonly string[]): boolean {
  const now = Date.now();
  return files.every((file) => {
    const written = statOf(file)?.mtimeMs;
    return written === undefined || Math.abs(now - written) > STEP_MS;
  });
}

const STEP_MS = 100;

/** A text that changes with the files' contents, as far as the file system shows. */
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
