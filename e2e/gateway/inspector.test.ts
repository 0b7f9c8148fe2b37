import { spawn } from 'node:child_process';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { proves } from '../verifies.ts';
import { behindGateway, FILESYSTEM } from './raw-client.ts';

const INSPECTOR = join(import.meta.dirname, '../../node_modules/.bin/mcp-inspector');

async function inspect(method: readonly string[], server: readonly string[]): Promise<unknown> {
  const child = spawn(INSPECTOR, ['--cli', '--method', ...method, '--', process.execPath, ...server], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let trouble = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (trouble += text));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`the inspector ended with ${String(code)}: ${trouble}`);
  return JSON.parse(output);
}

test("the inspector's CLI gives the same results directly and through the gateway", { timeout: 60_000 }, async () => {
  proves('gateway:inspector');
  const server = [...FILESYSTEM, import.meta.dirname];
  for (const method of [['tools/list'], ['tools/call', '--tool-name', 'list_allowed_directories']]) {
    const direct = await inspect(method, server);
    expect(await inspect(method, behindGateway(server, ['--profile', 'blocks']))).toEqual(direct);
    expect(JSON.stringify(direct)).toContain(method[0] === 'tools/list' ? 'read_file' : import.meta.dirname);
  }
});
