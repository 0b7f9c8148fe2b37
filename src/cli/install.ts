/**
 * Makes the text that a user types or pastes to put the gateway in front of an agent's server. Also makes the text that removes
 * the gateway.
 */
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stateFolder } from '../config/index.ts';
import { withoutSecretWords } from '../config/secret-words.ts';
import { defined } from '../core/defined.ts';
import { isCached } from '../input/add-package.ts';
import { fetching, quote } from '../hosts/setup/ours.ts';
import type { Ours } from '../hosts/setup/index.ts';
import { configuredServer } from './client-config.ts';
import type { InstallHost } from './install-hosts.ts';
import { checkName, serverName } from './server-name.ts';
import { VERSION } from './version.ts';

export type InstallText = {
  /** Says where to put the text. */
  readonly how: string;
  /**
   * The exact command line or part of a file. If the client already has a server with this name, the text first removes that
   * server.
   */
  readonly what: string;
  readonly undo: string;
  /** Warnings that a person should read first. */
  readonly warnings?: readonly string[];
};

export type InstallQuestion = {
  /** The command of the wrapped server. An empty list without `url` and `servers` means all servers of the configuration. */
  readonly words: readonly string[];
  readonly name?: string;
  readonly url?: string;
  readonly servers?: string;
  /** The database that the command must name; undefined if no name is needed or allowed: see `namedDatabase`. */
  readonly db?: string;
  readonly as?: string;
  readonly purpose?: string;
  readonly view?: string;
  readonly profile?: string;
};

export function installText(host: InstallHost, question: InstallQuestion): InstallText {
  const { text, name } = newText(host, question);
  const there = configuredServer(host, name);
  const cached = isCached(entry());
  const secrets = secretsIn(question);
  const warnings = [
    ...(secrets.length > 0
      ? [
          `this line contains a text that looks like a secret (${secrets.join(', ')}). The text stays in your shell's history and in the settings of the client; ` +
            'let the server read the secret from an environment variable instead',
        ]
      : []),
    ...(cached
      ? [
          `this earpiece runs from a cache folder (${entry()}), which may be cleaned; the printed line then fetches earpiece again. ` +
            'For a line that needs no network: npm install -g earpiece, then print the line again',
        ]
      : []),
    ...(there !== undefined && there.variables.length > 0
      ? [
          `removing "${name}" also deletes its environment variables (${there.variables.join(', ')}); add these variables to the new entry`,
        ]
      : []),
  ];
  return {
    ...text,
    // If a server with this name exists, the client's command for adding a server fails, or changes only a part of the entry.
    ...(there !== undefined && { what: `${text.undo}\n${text.what}`, undo: restored(host, name, question) ?? text.undo }),
    ...(warnings.length > 0 && { warnings }),
  };
}

/**
 * Lists the words that look like secrets, masked. If a whole word is masked, the result also shows the previous word, such as a
 * flag.
 */
function secretsIn({ words, url }: InstallQuestion): readonly string[] {
  const given = url === undefined ? words : [url];
  const shown = withoutSecretWords(given);
  return shown.flatMap((word, n) => (word === given[n] ? [] : word === '…' && n > 0 ? `${given[n - 1]} …` : word));
}

/**
 * Returns the text that restores the server without the gateway; undefined without a command, and for a client whose file a
 * person edits.
 */
function restored(host: InstallHost, name: string, { words }: InstallQuestion): string | undefined {
  if (words.length === 0) return undefined;
  const line = words.map(quote).join(' ');
  switch (host) {
    case 'claude':
    case 'codex':
      return `${host} mcp remove ${name}\n${host} mcp add ${name} -- ${line}`;
    case 'gemini':
    case 'qwen': {
      const [command = '', ...args] = words.map(quote);
      return `${host} mcp remove ${name}\n${host} mcp add ${name} ${[command, ...(args.length > 0 ? ['--', ...args] : [])].join(' ')}`;
    }
    case 'opencode':
    case 'cursor':
    case 'vscode':
    case 'json':
      return undefined;
    default:
      return host satisfies never;
  }
}

function newText(host: InstallHost, question: InstallQuestion): { readonly text: InstallText; readonly name: string } {
  const { words, url } = question;
  const name =
    question.name ?? (words.length > 0 || url !== undefined ? serverName(url === undefined ? words : [url]) : 'earpiece');
  checkName(name);
  // The client's own `node` may be older than 24. So the command has the absolute paths of Node and of the entry file, or names
  // `npx` if the entry file is in a cache.
  const [command, ...ours] = program();
  const args = [...ours, 'gateway', ...flags(question, name), ...(words.length > 0 ? ['--', ...words] : [])];
  const line = [command, ...args].map(quote).join(' ');
  // Without a `--` after the command, Gemini CLI and Qwen Code parse Earpiece's options as their own. With a `--` before the
  // command, these two clients do not find the command.
  const behindCommand = [command, '--', ...args].map(quote).join(' ');
  return { name, text: textFor(host, { name, command, args, line, behindCommand }) };
}

type Line = {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly line: string;
  readonly behindCommand: string;
};

function textFor(host: InstallHost, { name, command, args, line, behindCommand }: Line): InstallText {
  const json = (value: unknown): string => JSON.stringify(value, null, 2);
  switch (host) {
    case 'claude':
      return { how: 'Type this in the project:', what: `claude mcp add ${name} -- ${line}`, undo: `claude mcp remove ${name}` };
    case 'codex':
      return { how: 'Type this:', what: `codex mcp add ${name} -- ${line}`, undo: `codex mcp remove ${name}` };
    case 'gemini':
      return {
        how: 'Type this in the project:',
        what: `gemini mcp add ${name} ${behindCommand}`,
        undo: `gemini mcp remove ${name}`,
      };
    case 'qwen':
      return {
        how: 'Type this:',
        what: `qwen mcp add ${name} ${behindCommand}`,
        undo: `qwen mcp remove ${name}`,
      };
    case 'opencode':
      return {
        how: 'Put this into opencode.json:',
        what: json({ mcp: { [name]: { type: 'local', command: [command, ...args], enabled: true } } }),
        undo: `Remove "${name}" from "mcp" in opencode.json.`,
      };
    case 'cursor':
      return {
        how: 'Put this into .cursor/mcp.json:',
        what: json({ mcpServers: { [name]: { command, args } } }),
        undo: `Remove "${name}" from "mcpServers" in .cursor/mcp.json.`,
      };
    case 'vscode':
      return {
        how: 'Put this into .vscode/mcp.json:',
        what: json({ servers: { [name]: { type: 'stdio', command, args } } }),
        undo: `Remove "${name}" from "servers" in .vscode/mcp.json.`,
      };
    case 'json':
      return {
        how: 'For clients that read an mcpServers file:',
        what: json({ mcpServers: { [name]: { command, args } } }),
        undo: `Remove "${name}" from "mcpServers".`,
      };
  }
}

/** Returns the command by which agents start this installation of Earpiece. `db`: see `InstallQuestion`. */
export function ourselves(db: string | undefined, path = process.env['PATH'] ?? ''): Ours {
  return {
    node: lastingNode(process.execPath, path),
    entry: realpathSync(entry()),
    state: stateFolder({ env: process.env }),
    ...(isCached(entry()) ? { fetched: fetched() } : {}),
    ...defined({ db }),
  };
}

/**
 * Returns a path of the running Node that stays valid after an update, if `PATH` has one: `/opt/homebrew/bin/node` instead of
 * `…/Cellar/node/24.1.0/bin/node`.
 */
export function lastingNode(node: string, path: string): string {
  if (!/\d+\.\d+/u.test(node)) return node;
  const same = path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !/\d+\.\d+|multishell|node_modules/u.test(folder))
    .map((folder) => join(folder, 'node'))
    .find((file) => isSame(file, node));
  return same ?? node;
}

function isSame(file: string, other: string): boolean {
  try {
    return realpathSync(file) === realpathSync(other);
  } catch {
    return false;
  }
}

/** Returns the entry file of this command line: `dist/cli/main.js`, or its source. */
const entry = (): string => process.argv[1] ?? fileURLToPath(new URL('./main.ts', import.meta.url));

/** Returns the command by which a client starts Earpiece: absolute paths, or the package's name if the paths are in a cache. */
const program = (): readonly [command: string, ...args: string[]] =>
  isCached(entry()) ? ['npx', ...fetched()] : [process.execPath, entry()];

const fetched = (): readonly string[] => fetching(VERSION, process.env['HOME'] || homedir());

function flags({ words, url, servers, db, as, purpose, view, profile }: InstallQuestion, name: string): string[] {
  return [
    ...(words.length > 0 || url !== undefined ? ['--name', name] : []),
    ...(url === undefined ? [] : ['--url', url]),
    // The path is absolute, because the client may start the gateway in any folder.
    ...(servers === undefined ? [] : ['--servers', resolve(servers)]),
    ...(db === undefined ? [] : ['--db', db]),
    ...(as === undefined ? [] : ['--as', as]),
    ...(purpose === undefined ? [] : ['--purpose', purpose]),
    ...(view === undefined ? [] : ['--view', view]),
    ...(profile === undefined ? [] : ['--profile', profile]),
  ];
}
