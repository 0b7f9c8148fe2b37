import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { CLI } from '../built.ts';
import { PLUGIN_FILES } from '../../src/hosts/plugin-file.ts';
import type { McpServer } from './clients/client.ts';

export const entry = CLI;
const fixture = fileURLToPath(new URL('fixture-server.ts', import.meta.url));

/** The address that the tests send to. */
export const address = 'fixture/agent';

/** Returns the fixture server behind the gateway, as an entry of an MCP client's settings. */
export const wrappedFixture = (database: string): McpServer => ({
  command: process.execPath,
  args: [entry, 'gateway', '--', process.execPath, fixture],
  env: { EARPIECE_DB: database, EARPIECE_ADDRESS: address },
});

/** Queues a notification from another process. The notification is durable when the promise resolves. */
export async function send(home: string, database: string, message: string, ...options: readonly string[]): Promise<void> {
  await earpiece(home, database, 'send', '--to', address, ...options, message);
}

/** Runs an earpiece command in another process and returns its output. */
export async function earpiece(home: string, database: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [entry, ...args], {
    cwd: path.join(home, 'work'),
    env: {
      PATH: process.env['PATH'],
      HOME: home,
      XDG_CONFIG_HOME: path.join(home, '.config'),
      XDG_STATE_HOME: path.join(home, '.local/state'),
      EARPIECE_DB: database,
    },
    timeout: 90_000,
  });
  return stdout;
}

/** Returns the hook command of a host, as an entry of its settings. */
export const hookCommand = (host: string, database: string): string =>
  `EARPIECE_DB='${database}' '${process.execPath}' '${entry}' hook ${host}`;

/** Returns the entry of one gateway in front of several servers. */
export function gatewayBefore(mcpServers: Readonly<Record<string, McpServer>>, folder: string): McpServer {
  const file = path.join(folder, 'servers.json');
  fs.writeFileSync(file, JSON.stringify({ mcpServers }));
  return {
    command: process.execPath,
    args: [entry, 'gateway', '--servers', file],
    env: { EARPIECE_DB: path.join(folder, 'earpiece.db'), EARPIECE_ADDRESS: address },
  };
}

/** Returns the plugin of a host, as `earpiece install` places it. */
export const pluginOf = (host: 'opencode' | 'pi'): { readonly files: Readonly<Record<string, string>> } => ({
  files: { 'earpiece.js': PLUGIN_FILES[host].content({ node: process.execPath, entry }) },
});
