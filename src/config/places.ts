/** Finds the folders of the configuration and the state, and the file that applies to a working folder. */
import { userInfo } from 'node:os';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { EarpieceError } from '../core/errors.ts';

/** These functions come from `process`, because an import would also load streams and promises, which slows each hook call. */
const { existsSync, lstatSync, realpathSync, statSync } = process.getBuiltinModule('node:fs');

export type Env = Readonly<Record<string, string | undefined>>;

export const CONFIG_FILE = 'earpiece.toml';

/** The environment that determines the folders. `home` is for tests and for programs that work for another user. */
export type Surroundings = { readonly env: Env; readonly home?: string | undefined };

export const userConfigFile = (at: Surroundings): string => join(xdg(at, 'XDG_CONFIG_HOME', '.config'), 'earpiece', CONFIG_FILE);

export const userSubscribersFolder = (at: Surroundings): string => join(dirname(userConfigFile(at)), 'subscribers');

export const stateFolder = (at: Surroundings): string => join(xdg(at, 'XDG_STATE_HOME', '.local/state'), 'earpiece');

/** Returns the folder for files that may be deleted at any time. */
export const cacheFolder = (at: Surroundings): string => join(xdg(at, 'XDG_CACHE_HOME', '.cache'), 'earpiece');

/** Returns the home directory. Throws `bad_config` for a user without a home directory, or for a `HOME` that is not absolute. */
export function homeOf(at: Surroundings): string {
  const home = at.home ?? (at.env['HOME'] || homeOfUser());
  if (home !== undefined && isAbsolute(home)) return home;
  throw new EarpieceError(
    'bad_config',
    `${home === undefined ? 'HOME is not set and this user has no home directory' : `HOME is ${JSON.stringify(home)}, which is not an absolute path`}; set HOME, or XDG_STATE_HOME and XDG_CONFIG_HOME`,
  );
}

function homeOfUser(): string | undefined {
  try {
    return userInfo().homedir || undefined;
  } catch {
    return undefined;
  }
}

/** Returns a base directory. A relative path is ignored, as the XDG base directory specification requires. */
function xdg(at: Surroundings, name: string, fallback: string): string {
  const given = at.env[name];
  return given !== undefined && isAbsolute(given) ? given : join(homeOf(at), fallback);
}

export type ProjectPlace = {
  /** The root of the repository; outside a repository, the working folder. Without symbolic links. */
  readonly root: string;
  /** The possible files, the nearest first. The first existing file is used. */
  readonly candidates: readonly string[];
};

/**
 * Searches from `cwd` up to the folder that has `.git` (a folder, or a file in a worktree). Outside a repository, only `cwd`
 * itself is searched, because a parent folder such as `/tmp` may belong to other users.
 */
export function projectPlace(cwd: string): ProjectPlace {
  const start = realFolder(cwd);
  const folders: string[] = [];
  for (let folder = start; ; folder = dirname(folder)) {
    folders.push(folder);
    if (existsSync(join(folder, '.git'))) return { root: folder, candidates: folders.map((each) => join(each, CONFIG_FILE)) };
    if (dirname(folder) === folder) return { root: start, candidates: [join(start, CONFIG_FILE)] };
  }
}

/**
 * Returns the reason why a project's configuration file is not read, without quoting the file. A cloned repository could link
 * this file to any file of the user, whose content an error would then quote. A link to another TOML file inside one of the
 * `roots` is allowed.
 */
export function refusedLink(file: string, roots: readonly string[]): string | undefined {
  let target: string;
  try {
    if (!lstatSync(file).isSymbolicLink()) return undefined;
    target = realpathSync(file);
    // A folder or a device is not refused here, because the later read reports it.
    if (!statSync(target).isFile()) return undefined;
  } catch {
    return undefined;
  }
  const way = `the link is ignored; replace the link with the file itself`;
  if (!roots.some((root) => target.startsWith(root.endsWith(sep) ? root : root + sep)))
    return `is a link to ${target}, outside of the project; ${way}`;
  return target.endsWith('.toml') ? undefined : `is a link to ${target}, which is not a .toml file; ${way}`;
}

/** Resolves a path from a configuration file: `~/` is the home directory, and a relative path is relative to `base`. */
export function expandPath(path: string, base: string, at: Surroundings): string {
  if (path === '~') return homeOf(at);
  if (path.startsWith('~/')) return join(homeOf(at), path.slice(2));
  return resolve(base, path);
}

/**
 * Resolves a database from a configuration file. A path, with or without `sqlite:` or `file:`, becomes absolute. Other URLs stay
 * unchanged.
 */
export function expandDb(db: string, base: string, at: Surroundings): string {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]+):(.*)$/su.exec(db) ?? [];
  if (scheme === undefined) return expandPath(db, base, at);
  return (scheme === 'sqlite' || scheme === 'file') && rest !== '' && !rest.startsWith('//') ? expandPath(rest, base, at) : db;
}

function realFolder(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return resolve(folder);
  }
}
