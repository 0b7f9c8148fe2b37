/** Tests that, when a terminal closes (SIGHUP), the server that writes to this terminal ends, and no other server does. */
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { spawn as spawnPty } from '@lydell/node-pty';
import { expect, it } from 'vitest';
import { Shell } from '../cli/shell.ts';
import { CLI } from '../built.ts';
import { proves } from '../verifies.ts';
import type { Served } from './process.ts';

const SERVE = [CLI, 'serve', '--json', '--port', '0', '--no-console'];

it('the server continues under nohup, and says so', async () => {
  proves('server:command');
  await using shell = new Shell();
  const server = spawn('nohup', [process.execPath, ...SERVE], { cwd: shell.folder, env: shell.env(), stdio: 'pipe' });
  const ended = once(server, 'close');
  try {
    const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
    const { url } = JSON.parse(line) as Served;
    const complaints = createInterface({ input: server.stderr })[Symbol.asyncIterator]();
    for (let i = 0; i < 2; i++) {
      server.kill('SIGHUP');
      const { value } = (await Promise.race([complaints.next(), ended.then(() => ({ value: 'it ended' }))])) as { value: string };
      expect(value).toBe(
        'earpiece: the server got SIGHUP, but continues because it has no terminal; to stop the server, send SIGTERM',
      );
      expect((await fetch(`${url}/healthz`)).status).toBe(200);
    }
    server.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  } finally {
    server.kill('SIGKILL');
  }
}, 60_000);

it('the server ends cleanly when its terminal is closed, also after several signals', async () => {
  proves('server:command', 'server:stop');
  await using shell = new Shell();
  const terminal = spawnPty(process.execPath, SERVE, { cols: 400, cwd: shell.folder, env: shell.env() });
  const ended = new Promise<number>((resolve) => terminal.onExit(({ exitCode }) => resolve(exitCode)));
  try {
    const { url } = await new Promise<Served>((resolve) => {
      let shown = '';
      terminal.onData((text) => {
        shown += text;
        if (shown.includes('\n')) resolve(JSON.parse(shown) as Served);
      });
    });
    const { hostname, port, host } = new URL(url);
    // The server must finish a request in flight. The body of this request is only half sent when the terminal closes.
    const socket = connect(Number(port), hostname);
    const heard = all(socket);
    socket.write(`POST /api/session HTTP/1.1\r\nhost: ${host}\r\nx-earpiece: 1\r\ncontent-type: application/json\r\n`);
    socket.write('expect: 100-continue\r\ncontent-length: 12\r\n\r\n');
    await once(socket, 'data');
    socket.write('{"code"');
    terminal.kill('SIGHUP');
    await refused(Number(port), hostname);
    // When a terminal closes, the kernel and the shell each send SIGHUP. The second signal must not abort the request.
    terminal.kill('SIGHUP');
    socket.write(':"x"}');
    expect(await heard).toContain('HTTP/1.1 401 Unauthorized');
    expect(await ended).toBe(0);
  } finally {
    if (!(await Promise.race([ended.then(() => true), Promise.resolve(false)]))) terminal.kill('SIGKILL');
  }
}, 60_000);

async function all(socket: Socket): Promise<string> {
  let text = '';
  for await (const chunk of socket.setEncoding('latin1')) text += chunk as string;
  return text;
}

/** Resolves when the port no longer accepts connections. */
async function refused(port: number, host: string): Promise<void> {
  for (;;) {
    const socket = connect(port, host);
    try {
      await once(socket, 'connect');
    } catch {
      return;
    } finally {
      socket.destroy();
    }
  }
}
