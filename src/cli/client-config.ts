/** Reads an MCP client's existing configuration from its files. */
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import type { InstallHost } from './install-hosts.ts';

/** The maximum size of a configuration file that is read, in bytes. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * A server in the client's configuration. `variables` are the names of its environment variables, which are lost when the server
 * is removed.
 */
export type Configured = { readonly variables: readonly string[] };

/**
 * Finds the server with this name in the client's configuration. Returns undefined if there is no such server, and for a client
 * whose file a person edits.
 */
export function configuredServer(
  host: InstallHost,
  name: string,
  { home = homedir(), project = process.cwd() }: { readonly home?: string; readonly project?: string } = {},
): Configured | undefined {
  const server = at(serversOf(host, home, project), name);
  if (server === undefined) return undefined;
  const env = at(server, 'env');
  return { variables: typeof env === 'object' && env !== null ? Object.keys(env) : [] };
}

function serversOf(host: InstallHost, home: string, project: string): unknown {
  switch (host) {
    case 'claude':
      return at(at(at(json(join(home, '.claude.json')), 'projects'), project), 'mcpServers');
    case 'codex':
      return at(toml(join(process.env['CODEX_HOME'] ?? join(home, '.codex'), 'config.toml')), 'mcp_servers');
    case 'gemini':
      return at(json(join(project, '.gemini', 'settings.json')), 'mcpServers');
    case 'qwen':
      return at(json(join(home, '.qwen', 'settings.json')), 'mcpServers');
    case 'opencode':
    case 'cursor':
    case 'vscode':
    case 'json':
      return undefined; // A person edits this file, and sees the existing server there.
    default:
      return host satisfies never;
  }
}

const at = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;

const json = (file: string): unknown => read(file, JSON.parse);
const toml = (file: string): unknown => read(file, parse);

/** Reads and parses a file. Returns undefined for a file that is missing, unreadable, invalid or larger than `MAX_BYTES`. */
function read(file: string, parser: (text: string) => unknown): unknown {
  try {
    const stats = statSync(file);
    return stats.isFile() && stats.size <= MAX_BYTES ? parser(readFileSync(file, 'utf8')) : undefined;
  } catch {
    return undefined;
  }
}
