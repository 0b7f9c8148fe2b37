/**
 * Tests that the gateway answers the requests that a client wrote before it closed stdin, as the wrapped server does without a
 * gateway.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI } from '../built.ts';
import { untilDead } from '../gateway/raw-client.ts';
import { proves } from '../verifies.ts';
import { HttpGateway } from './http-gateway.ts';
import { GatewayClient, Stage, textOf, type ToolResult } from './stage.ts';

const HERE = 'shop/coder#main';
const ECHO = join(import.meta.dirname, 'echo-server.ts');
const SLOWLY = `sleep 2.5; exec "${process.execPath}" "${ECHO}"`;

/** A client, as a script: starts the program that its arguments name, and pipes its own stdin to that program. */
const CLIENT = `
  const [program, ...args] = process.argv.slice(1);
  process.stdin.pipe(require('node:child_process').spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] }).stdin);
`;

/** How long the gateway waits for a server that has not started, if the client still runs. */
const WAITS_MS = 10_000;

const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };

type Call = { readonly name: string; readonly arguments: object };

const echo = (text: string, more: object = {}): Call => ({ name: 'echo', arguments: { text, ...more } });

/** Writes a handshake and calls at once, closes stdin, and returns the texts of the results after the gateway has ended. */
async function scripted(stage: Stage, args: readonly string[], calls: readonly Call[]): Promise<string[]> {
  const client = new GatewayClient(stage, args, {});
  const hello = client.begin('initialize', HELLO).answer;
  client.send({ method: 'notifications/initialized' });
  const answers = calls.map((call) => client.begin('tools/call', call).answer as Promise<ToolResult>);
  client.process.stdin?.end();
  const [results] = await Promise.all([Promise.all(answers), hello]);
  expect(await client.exited).toBe(0);
  return results.map(textOf);
}

describe('calls that a client wrote before it closed stdin are answered', () => {
  proves('gateway:end-of-input');

  it.each<[string, readonly string[], string]>([
    ['by one server', [], 'echo'],
    ['by one server that starts slowly', ['--', 'sh', '-c', SLOWLY], 'echo'],
    ['by one of several servers', ['--servers', 'servers.json'], 'files__echo'],
    ['by one of several servers that starts slowly', ['--servers', 'servers.json'], 'late__echo'],
  ])('%s', async (_, args, name) => {
    await using stage = new Stage();
    const mcpServers = { files: { command: process.execPath, args: [ECHO] }, late: { command: 'sh', args: ['-c', SLOWLY] } };
    stage.home('servers.json', JSON.stringify({ mcpServers }));
    const calls = [echo('a'), echo('b', { delayMs: 300 })].map((call) => ({ ...call, name }));
    expect(await scripted(stage, args, calls)).toEqual(['a', 'b']);
  });

  it('by a server over HTTP', async () => {
    await using stage = new Stage();
    await using server = await HttpGateway.start(stage);
    expect(await scripted(stage, ['--url', server.url], [echo('a', { delayMs: 300 })])).toEqual(['a']);
  });

  it('by a server over HTTP that needs longer than 0.9 s', async () => {
    await using stage = new Stage();
    await using server = await HttpGateway.start(stage);
    expect(await scripted(stage, ['--url', server.url], [echo('a', { delayMs: 950 })])).toEqual(['a']);
  });

  it("by the gateway's own tool, but the answer does not count as read", async () => {
    await using stage = new Stage();
    const ear = await stage.open();
    await ear.queue(HERE, { id: 'n', message: 'the build has ended' });
    const [read, echoed] = await scripted(stage, [], [{ name: 'get_notifications', arguments: {} }, echo('a')]);
    expect(read).toContain('the build has ended');
    expect(echoed).toBe('a');
    const next = await stage.gateway();
    expect(textOf(await next.call('echo', { text: 'next' }))).toContain('the build has ended');
  });

  it('by a server that is being restarted', async () => {
    await using stage = new Stage();
    const client = await stage.gateway({
      args: ['--', 'sh', '-c', `echo $$ >> pids; exec "${process.execPath}" "${ECHO}"`],
    });
    await client.call('echo', { text: 'first' });
    process.kill(Number(readFileSync(join(stage.folder, 'pids'), 'utf8')), 'SIGKILL');
    await expect.poll(() => client.stderr).toContain('trying again');
    const { answer } = client.begin('tools/call', echo('a'));
    client.process.stdin?.end();
    expect(textOf((await answer) as ToolResult)).toBe('a');
    expect(await client.exited).toBe(0);
  });

  it('by the gate, and the refused call does not reach the server', async () => {
    await using stage = new Stage();
    const ear = await stage.open();
    await ear.queue(HERE, { id: 'n', level: 'critical', message: 'the production database is down' });
    const [refused] = await scripted(stage, [], [echo('a')]);
    expect(refused).toContain('the production database is down');
    expect(stage.calls()).toEqual([]);
    const next = await stage.gateway();
    expect(textOf(await next.call('echo', { text: 'next' }))).toContain('the production database is down');
  });
});

it.each<[string, readonly string[]]>([
  ['a client', []],
  ['a client that starts the gateway through a shell', ['sh', '-c', '"$@"; exit $?', 'sh']],
])(
  'if %s is killed, the gateway does not wait for a server that has not answered yet, and no process stays',
  async (_, shell) => {
    proves('gateway:no-orphans');
    await using stage = new Stage();
    const server = ['sh', '-c', 'read -r frame; echo $$ $PPID > pid; exec sleep 60'];
    const client = spawn(process.execPath, ['-e', CLIENT, ...shell, process.execPath, CLI, 'gateway', '--', ...server], {
      cwd: stage.folder,
      env: stage.env(),
      stdio: ['pipe', 'ignore', 'inherit'],
    });
    for (const frame of [
      { id: 1, method: 'initialize', params: HELLO },
      { id: 2, method: 'tools/call', params: echo('a') },
    ])
      client.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);
    const file = join(stage.folder, 'pid');
    await expect.poll(() => existsSync(file) && readFileSync(file, 'utf8')).toMatch(/^\d+ \d+\n$/);
    const pids = readFileSync(file, 'utf8').split(' ').map(Number);
    const killed = performance.now();
    client.kill('SIGKILL');
    for (const each of pids) expect(await untilDead(each)).toBe(true);
    expect(performance.now() - killed).toBeLessThan(WAITS_MS / 2);
  },
);
