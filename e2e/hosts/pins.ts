import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export type ClientName = 'claude' | 'codex' | 'gemini' | 'opencode' | 'pi' | 'qwen';

interface Pin {
  readonly package: string;
  readonly version: string;
  /** Set if npm must run install scripts, because the package's own script puts the native binary in place. */
  readonly installScripts?: true;
}

export const pins: Readonly<Record<ClientName, Pin>> = {
  claude: { package: '@anthropic-ai/claude-code', version: '2.1.330', installScripts: true },
  codex: { package: '@openai/codex', version: '0.169.0' },
  gemini: { package: '@google/gemini-cli', version: '0.61.0' },
  opencode: { package: 'opencode-ai', version: '1.18.33', installScripts: true },
  pi: { package: '@earendil-works/pi-coding-agent', version: '0.87.1' },
  qwen: { package: '@qwen-code/qwen-code', version: '0.24.4' },
};

export const clientNames = Object.keys(pins) as readonly ClientName[];

export const packageOf = (client: ClientName): string => `${pins[client].package}@${pins[client].version}`;

/** Returns the folder of a client. The version is part of its name, so checkouts with different pins share one cache. */
export const folderOf = (client: ClientName): string => path.join(cacheFolder(), `${client}-${pins[client].version}`);

export const binaryOf = (client: ClientName): string => path.join(folderOf(client), 'node_modules', '.bin', client);

export const isInstalled = (client: ClientName): boolean => fs.existsSync(binaryOf(client));

export function cacheFolder(): string {
  const own = process.env['EARPIECE_HOSTS_CACHE'];
  if (own) return path.resolve(own);
  return path.join(process.env['XDG_CACHE_HOME'] || path.join(os.homedir(), '.cache'), 'earpiece', 'hosts');
}

export function requireInstalled(client: ClientName): void {
  if (isInstalled(client)) return;
  throw new Error(
    `${client} is not installed: ${packageOf(client)} was not found in ${folderOf(client)}. ` +
      `Run \`node scripts/hosts.ts setup ${client}\` (or \`npm run test:hosts\`, which does), ` +
      `or let EARPIECE_HOSTS_CACHE name a folder that has it.`,
  );
}
