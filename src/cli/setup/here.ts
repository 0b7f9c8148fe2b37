/** Finds the caller's environment for an installation, and the agents on this machine. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { projectPlace, readConfig, userConfigFile } from '../../config/index.ts';
import { defined } from '../../core/defined.ts';
import { didYouMean, EarpieceError } from '../../core/errors.ts';
import { SETUPS, type Ours, type Place, type Scope, type Setup } from '../../hosts/setup/index.ts';
import { fileOf, redacted } from '../../stores/open.ts';
import type { GlobalOptions } from '../context.ts';
import { ourselves } from '../install.ts';
import { onPath } from '../shell.ts';

export function placeHere(scope: Scope): Place {
  const { env } = process;
  return { env, home: env['HOME'] || homedir(), project: projectPlace(process.cwd()).root, scope, system: '/' };
}

export const oursHere = (options: GlobalOptions): Ours => ({ ...ourselves(namedDatabase(options)), serves: servedHosts() });

/**
 * The first version of Claude Code whose hooks are known to call MCP tools. If a settings file has such a hook, an older version
 * ignores the whole file.
 */
export const CALLS_TOOLS = [2, 1, 200];
const VERSION_WITHIN_MS = 10_000;

/** Lists the installed hosts that can call a tool of Earpiece's server as a hook. */
function servedHosts(): readonly string[] {
  const version = claudeVersion();
  return version !== undefined && isAtLeast(version, CALLS_TOOLS) ? ['claude'] : [];
}

/** Reads the version of Claude Code; returns undefined if Claude Code is not installed, or does not report a version. */
function claudeVersion(): readonly number[] | undefined {
  const file = onPath('claude', process.env);
  if (file === undefined) return undefined;
  const { stdout } = spawnSync(file, ['--version'], {
    encoding: 'utf8',
    timeout: VERSION_WITHIN_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return /(\d+)\.(\d+)\.(\d+)/u
    .exec(stdout ?? '')
    ?.slice(1)
    .map(Number);
}

const isAtLeast = (version: readonly number[], least: readonly number[]): boolean => {
  const at = version.findIndex((part, i) => part !== least[i]);
  return at === -1 || (version[at] ?? 0) > (least[at] ?? 0);
};

/**
 * Returns the database that this command line or shell names. The path of a file is absolute. Returns undefined if the
 * configuration without `--db` and `EARPIECE_DB` gives the same database, and for the URL of a database server.
 */
export function namedDatabase(options: GlobalOptions): string | undefined {
  const { EARPIECE_DB: _, ...env } = process.env;
  const { config } = readConfig({
    cwd: process.cwd(),
    env: process.env,
    flags: defined({ db: options.db }),
  });
  // This call throws for a path that seems to be a URL with a password, because the password must not get into a settings file.
  fileOf(config.db);
  const found = readConfig({ cwd: process.cwd(), env }).config.db;
  // The URL of a database server may contain a password, which does not belong in a settings file.
  return config.db === found || config.db.includes('://') ? undefined : config.db;
}

/**
 * Refuses a `--db` that an installation cannot write into the settings of an agent. Returns a warning about such an `EARPIECE_DB`,
 * which the hooks of an agent that starts in this shell inherit.
 */
export function unwrittenDatabase({ db }: GlobalOptions): string | undefined {
  const { EARPIECE_DB: _, ...env } = process.env;
  const at = { cwd: process.cwd(), env: process.env };
  const { config, problems } = readConfig({ ...at, flags: defined({ db }) });
  const wrong = problems.find(({ key, file }) => db !== undefined && key === 'db' && file === undefined);
  if (wrong !== undefined) throw new EarpieceError('bad_argument', wrong.message);
  if (!config.db.includes('://') || config.db === readConfig({ ...at, env }).config.db) return undefined;
  const named = `${db === undefined ? 'EARPIECE_DB' : '--db'} ${redacted(config.db)}`;
  const why = 'is not written into the settings of an agent, because the URL may contain a password';
  const way = `set db in ${userConfigFile(at)}`;
  if (db !== undefined)
    throw new EarpieceError('bad_argument', `${named} ${why}; ${way}, then run earpiece install without --db`);
  return `${named} ${why}; start the agents with this variable, or ${way}`;
}

/** Finds the command of a host, or otherwise its settings folder. Returns undefined if the host is not installed. */
export function foundAt(setup: Setup, place: Place): string | undefined {
  const command = setup.commands.map((each) => onPath(each, place.env)).find((file) => file !== undefined);
  return command ?? setup.folders(place).find((folder) => existsSync(folder));
}

/** Finds the named hosts. Throws `bad_argument` for an unknown name. */
export function setupsNamed(names: readonly string[]): readonly Setup[] {
  const known = SETUPS.map(({ name }) => name);
  return [...new Set(names)].map((name) => {
    const setup = SETUPS.find((each) => each.name === name);
    if (setup !== undefined) return setup;
    const near = didYouMean(name, known);
    throw new EarpieceError(
      'bad_argument',
      `agent ${JSON.stringify(name.slice(0, 80))} must be one of ${known.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`,
    );
  });
}

/** Shortens a path in the home folder to `~/…`. */
export const short = (file: string, { home }: Pick<Place, 'home'>): string =>
  file === home || file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file;
