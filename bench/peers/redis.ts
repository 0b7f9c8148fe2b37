/** Starts a Redis server for the bench: the installed server, or Debian's package, unpacked into the cache of the peers. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { freePort } from '../../e2e/stores/postgres-server.ts';
import { cacheFolder } from './pins.ts';

const WAY_OUT = 'install redis-server (apt-get install redis-server, brew install redis) and put it on the PATH';
const PACKAGES = ['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1', 'liblua5.1-0', 'lua-cjson', 'lua-bitop'];

type Program = { readonly path: string; readonly env: NodeJS.ProcessEnv };

/** Starts Redis in the folder. Redis syncs its append-only file once a second, as JetStream syncs its files in intervals. */
export async function startRedis(folder: string): Promise<{ readonly port: number; readonly remove: () => Promise<void> }> {
  const program = found() ?? unpacked();
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--appendonly', 'yes', '--save', ''];
  const server = spawn(program.path, args, { env: program.env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(server, 'exit');
  let said = '';
  for await (const text of server.stdout.setEncoding('utf8')) if ((said += text).includes('Ready to accept connections')) break;
  if (server.exitCode !== null) throw new Error(`redis-server ended with ${server.exitCode}: ${said.trim()}`);
  return {
    port,
    remove: async () => {
      server.kill();
      await exited;
    },
  };
}

function found(): Program | undefined {
  const runs = spawnSync('redis-server', ['--version']).status === 0;
  return runs ? { path: 'redis-server', env: process.env } : undefined;
}

function unpacked(): Program {
  const folder = path.join(cacheFolder(), 'redis');
  if (!fs.existsSync(folder)) unpack(folder);
  const libraries = fs.globSync(path.join(folder, 'usr/lib/*-linux-*'))[0] ?? '';
  return { path: path.join(folder, 'usr/bin/redis-server'), env: { ...process.env, LD_LIBRARY_PATH: libraries } };
}

function unpack(folder: string): void {
  const work = fs.mkdtempSync(`${folder}-`);
  const run = (command: string, args: readonly string[]): void => {
    const { status, error, stderr } = spawnSync(command, args, { cwd: work, encoding: 'utf8', timeout: 300_000 });
    if (status !== 0) throw new Error(`Redis could not be unpacked: ${error?.message ?? stderr.trim()}\n  ${WAY_OUT}`);
  };
  try {
    fs.chmodSync(work, 0o755);
    run('apt-get', ['download', ...PACKAGES]);
    for (const file of fs.globSync('*.deb', { cwd: work })) run('dpkg', ['-x', file, 'root']);
    fs.renameSync(path.join(work, 'root'), folder);
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}
