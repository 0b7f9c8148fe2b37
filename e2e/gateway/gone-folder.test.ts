/** Tests a gateway that starts in a folder that no longer exists. */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Running, Shell } from '../cli/shell.ts';
import { CLI } from '../built.ts';
import { proves } from '../verifies.ts';

const ECHO = join(import.meta.dirname, '../delivery/echo-server.ts');
const FRAMES = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
];

describe('a gateway in a deleted working folder', () => {
  proves('gateway:gone-folder');

  it.each([
    ['earpiece mcp', ['mcp'], 'get_notifications'],
    ['a gateway', ['gateway', '--', 'sh', '-c', `pwd >&2; exec "$0" "$1"`, process.execPath, ECHO], 'echo'],
    ['a gateway with options', ['gateway', '--view', 'xml', '--name', 'e', '--', process.execPath, ECHO], 'echo'],
  ])('%s serves its tools', async (_case, words, tool) => {
    await using shell = new Shell();
    const gone = join(shell.folder, 'gone');
    mkdirSync(gone);
    const script = 'cd "$0" && rmdir "$0" && exec "$@"';
    const running = new Running(
      spawn('sh', ['-c', script, gone, process.execPath, CLI, ...words], { env: shell.env(), stdio: 'pipe' }),
    );
    for (const frame of FRAMES) running.process.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);
    await running.shows(`"name":"${tool}"`);
    running.process.stdin.end();
    const { code, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining(`works in "${shell.folder}" instead`) as string,
    });
    // This line is from the wrapped server's shell.
    if (words.includes('sh')) expect(stderr.split('\n')).toContain(shell.folder);
  });
});
