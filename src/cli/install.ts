/** What a person types or pastes to put the gateway before a server of their agent, and what undoes it. */
import { fileURLToPath } from 'node:url';
import { checkName, serverName } from './server-name.ts';

export const INSTALL_HOSTS = ['claude', 'codex', 'gemini', 'qwen', 'opencode', 'cursor', 'vscode', 'json'] as const;
export type InstallHost = (typeof INSTALL_HOSTS)[number];

export type InstallText = {
  /** One sentence: where it goes. */
  readonly how: string;
  /** The exact command line or file part. */
  readonly what: string;
  readonly undo: string;
};

export type InstallQuestion = {
  /** The wrapped server's command; empty: all servers of the configuration. */
  readonly words: readonly string[];
  readonly name?: string;
  readonly url?: string;
  readonly servers?: string;
  readonly db?: string;
  readonly as?: string;
  readonly view?: string;
};

export function installText(host: InstallHost, question: InstallQuestion): InstallText {
  const { words, url } = question;
  const name =
    question.name ?? (words.length > 0 || url !== undefined ? serverName(url === undefined ? words : [url]) : 'earpiece');
  checkName(name);
  // The client's own `node` may be older than 24: Node and our entry stand there by their absolute paths.
  const command = process.execPath;
  const args = [entry(), 'gateway', ...flags(question, name), ...(words.length > 0 ? ['--', ...words] : [])];
  const line = [command, ...args].map(quote).join(' ');
  // Without a `--` behind the command these two take our options for theirs; before it they do not see the command.
  const behindCommand = [command, '--', ...args].map(quote).join(' ');
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

/** The file that this very command line runs from: `dist/cli.js`, or its source. */
const entry = (): string => process.argv[1] ?? fileURLToPath(new URL('./main.ts', import.meta.url));

function flags({ words, url, servers, db, as, view }: InstallQuestion, name: string): string[] {
  return [
    ...(words.length > 0 || url !== undefined ? ['--name', name] : []),
    ...(url === undefined ? [] : ['--url', url]),
    ...(servers === undefined ? [] : ['--servers', servers]),
    ...(db === undefined || process.env['EARPIECE_DB'] === db ? [] : ['--db', db]),
    ...(as === undefined ? [] : ['--as', as]),
    ...(view === undefined ? [] : ['--view', view]),
  ];
}

/** For a POSIX shell. */
export const quote = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
