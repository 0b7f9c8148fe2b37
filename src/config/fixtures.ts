/** Makes a separate home, repository and state folder for the tests of the configuration. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Config, LoadOptions } from './load.ts';
import { readConfig } from './load.ts';
import { formatProblem, type Problem } from './problems.ts';

export type World = {
  readonly home: string;
  /** `<world>/web`, with `.git`. */
  readonly repository: string;
  readonly userFile: string;
  readonly projectFile: string;
  /** Writes a file and makes its folders. A relative path is relative to the test's folder. */
  readonly write: (path: string, text: string) => string;
  readonly options: (given?: Partial<LoadOptions>) => LoadOptions;
  readonly read: (given?: Partial<LoadOptions>) => { config: Config; problems: string[] };
  /** Replaces the folder of the test in a text by `…`. */
  readonly short: (text: string) => string;
};

export function world(files: { readonly project?: string; readonly user?: string } = {}): World {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'earpiece-config-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const home = join(root, 'home');
  const repository = join(root, 'web');
  const projectFile = join(repository, 'earpiece.toml');
  const userFile = join(home, '.config/earpiece/earpiece.toml');
  mkdirSync(join(repository, '.git'), { recursive: true });
  mkdirSync(home);
  const write = (path: string, text: string): string => {
    const file = path.startsWith('/') ? path : join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  if (files.project !== undefined) write(projectFile, files.project);
  if (files.user !== undefined) write(userFile, files.user);
  const options = (given: Partial<LoadOptions> = {}): LoadOptions => ({ cwd: repository, env: {}, home, ...given });
  const short = (text: string): string => text.replaceAll(root, '…');
  return {
    home,
    repository,
    userFile,
    projectFile,
    write,
    options,
    short,
    read: (given) => {
      const { config, problems } = readConfig(options(given));
      return { config, problems: problems.map((problem: Problem) => short(formatProblem(problem))) };
    },
  };
}
