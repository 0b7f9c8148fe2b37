/** The tool `follow` of `earpiece mcp`, before a real MCP client. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CLI } from '../built.ts';
import type { LoadedInbox } from '../../src/loaded-inbox.ts';
import { add, looker } from '../../src/sources/follow/index.ts';
import { Shell } from '../cli/shell.ts';
import { proves, verifies } from '../verifies.ts';

let shell: Shell;
let ear: LoadedInbox;
let client: Client;

beforeEach(async () => {
  shell = new Shell();
  ear = await shell.open();
  client = new Client({ name: 'raw', version: '1' });
  const env = shell.env({ EARPIECE_ADDRESS: 'shop/coder#a' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [CLI, 'mcp'], cwd: shell.folder, env }));
});
afterEach(async () => {
  const owner = await looker(ear.store, 'shop', ear.isAlive);
  if (owner !== undefined) process.kill(owner.pid, 'SIGKILL');
  await client.close();
  await shell[Symbol.asyncDispose]();
});

async function follow(args: Record<string, string> = {}): Promise<string> {
  const { content } = await client.callTool({ name: 'follow', arguments: args });
  return (content as { text: string }[]).map(({ text }) => text).join('\n');
}

verifies(
  'follow:tool',
  'an agent follows an address of this machine, hears that it fails, lists it and ends it',
  async () => {
    const server = createServer((_, response) => response.writeHead(503).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    try {
      expect(JSON.parse(await follow({ url }))).toEqual({
        success: true,
        id: 'f1',
        follows: url,
        message: 'Its changes arrive as notifications.',
      });
      for await (const { body } of ear.watch({ after: 0 })) if (body.type === 'system_notification_queued') break;
      expect(await follow()).toContain(`${url} fails: 503 Service Unavailable`);
      expect(await follow({ stop: 'f1' })).toContain('It is no longer followed');
      expect(await follow()).toContain('"following":[]');
    } finally {
      server.close();
    }
  },
  30_000,
);

it('does not leave the project, this machine and this repository, and ends nothing of others', async () => {
  proves('follow:tool');
  writeFileSync(join(shell.folder, 'app.log'), '');
  mkdirSync(join(shell.folder, 'logs'));
  symlinkSync('/etc/hosts', join(shell.folder, 'logs/link.log'));
  const what = { kind: 'log', file: join(shell.folder, 'app.log'), match: 'x' } as const;
  await add(ear.store, 'shop', { uid: 'f_person', what, to: 'shop/coder' });
  for (const [args, why] of [
    [{ log: 'logs/link.log', match: 'x' }, 'is outside of the project'],
    [{ log: '../../etc/hosts', match: 'x' }, 'is outside of the project'],
    [{ log: 'none.log', match: 'x' }, 'does not exist yet'],
    [{ log: 'app.log' }, 'log needs match'],
    [{ url: 'https://example.com/' }, 'is not an address of this machine'],
    [{ url: 'http://localhost.example.com/' }, 'is not an address of this machine'],
    [{ url: 'http://127.0.0.1@example.com/' }, 'is not an address of this machine'],
    [{ pull_request: 'https://github.com/acme/other/pull/1' }, 'is a number or a branch'],
    [{ url: 'http://localhost/', log: 'app.log' }, 'takes one of pull_request, log and url'],
    [{ stop: 'f1' }, 'was not asked for by you'],
    [{ stop: 'f9' }, 'is not followed'],
    [{ command: 'rm' }, 'has no argument "command"'],
  ] as const)
    expect(await follow(args as unknown as Record<string, string>), JSON.stringify(args)).toContain(why);
  expect(JSON.parse(await follow())).toMatchObject({ following: [{ id: 'f1' }] });
}, 30_000);

it('offers the pull request to an agent that opens one or pushes to it', async () => {
  proves('follow:tool');
  const { tools } = await client.listTools();
  expect(tools.find(({ name }) => name === 'follow')?.description).toContain(
    'After you open a pull request or push to one, follow pull_request "current"',
  );
});
