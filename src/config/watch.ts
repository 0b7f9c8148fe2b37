import { statSync, type Stats } from 'node:fs';
import { readConfig, type Config, type LoadOptions } from './load.ts';
import { projectPlace, userConfigFile, type Surroundings } from './places.ts';
import type { Problem } from './problems.ts';
import { trustBook, trustFile } from './trust.ts';

/**
 * The configuration as it is now. No timer and no file watch: each `current` asks for the state of the few files that
 * could count, so a change counts from the next contact point, and there is nothing to close.
 */
export type ConfigWatch = { readonly current: () => Config };

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
  // Taken before reading: a change while reading is then seen by the next call.
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
      // What is wrong with variables and flags was said at first, and does not get right by changing a file.
      const problems = next.problems.filter((problem) => problem.file !== undefined);
      // What is wrong changes nothing, but for trust that was taken back: that must not count on.
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

/** The project's file is in the book of trusted ones, whatever of it. */
function isListed({ files }: Config, at: Surroundings): boolean {
  const project = files.find(({ scope }) => scope === 'project')?.file;
  return project !== undefined && trustBook(at).isListed(project);
}

/**
 * File systems count time in steps of some milliseconds: what was written just now may be written again, at the same
 * length, without looking different. Until the step is over, only reading tells.
 */
function isSettled(files: readonly string[]): boolean {
  const now = Date.now();
  return files.every((file) => {
    const written = statOf(file)?.mtimeMs;
    return written === undefined || Math.abs(now - written) > STEP_MS;
  });
}

const STEP_MS = 100;

/** Changes with the files' contents, as far as the file system tells. */
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
