/** Finds the command that reaches the server's database from a terminal of this machine, and the machine's MCP clients. */
import { accessSync, constants, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { readConfig, type Config } from '../config/index.ts';
import type { ShellInfo } from '../wire/api.ts';
import { quote } from '../hosts/setup/ours.ts';
import type { InstallHost } from './install-hosts.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The commands that start the clients which `gateway --print` knows. */
const COMMANDS: Readonly<Partial<Record<InstallHost, string>>> = {
  claude: 'claude',
  codex: 'codex',
  gemini: 'gemini',
  qwen: 'qwen',
  opencode: 'opencode',
  cursor: 'cursor',
  vscode: 'code',
};

export function shellInfo({ db }: Config, env: Env, argv: readonly string[] = process.argv): ShellInfo {
  const [node = process.execPath, entry = ''] = argv;
  // In a clone of the repository, there is no `earpiece` on the PATH.
  const words = entry.endsWith('.ts') ? [node, entry] : ['earpiece'];
  // The command must also work in another shell, with another environment and in another folder.
  const { EARPIECE_DB: _, ...others } = env;
  const same = readConfig({ cwd: env['HOME'] ?? homedir(), env: others }).config.db === db || isAddress(db);
  return {
    earpiece: [...words, ...(same ? [] : ['--db', db])].map(quote).join(' '),
    clients: Object.entries(COMMANDS).flatMap(([client, command]) => (isOnPath(command, env) ? [client] : [])),
  };
}

/** Whether a URL names the database. Such a URL is not shown, because it may contain a password. */
const isAddress = (db: string): boolean => db.includes('://');

export const isOnPath = (command: string, env: Env): boolean => onPath(command, env) !== undefined;

/** Finds the file that a shell with this environment would start for a command. */
export function onPath(command: string, env: Env): string | undefined {
  const names = process.platform === 'win32' ? [`${command}.cmd`, `${command}.exe`] : [command];
  return (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '')
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find(runs);
}

function runs(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
