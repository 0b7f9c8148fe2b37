/**
 * Starts a real PostgreSQL for tests. The cluster is in a temporary folder and listens on a free port. If the tests run as
 * root, the server runs as the user nobody. The server is ended by its process id.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findPooler, findPostgres, findVersion, type Version, WAY_OUT, wayOutOf } from '../../scripts/postgres.ts';

/** PostgreSQL refuses to run as root. 65534 is nobody. */
const NOBODY = 65_534;
/** The maximum number of tries of a start, half a second apart. */
const TRIES = 20;
const as = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
const isRoot = process.getuid?.() === 0;

export const PASSWORD = 's3cret';

export type PostgresServer = {
  /** The URL with the password. */
  readonly url: string;
  readonly port: number;
  /** The data folder of the cluster. The folder stays when the server stops. */
  readonly data: string;
  readonly pid: () => number;
  /** Ends the server at once, as a crash does (`SIGQUIT`), or by `SIGKILL`. */
  readonly stop: (signal?: 'SIGQUIT' | 'SIGKILL') => Promise<void>;
  /** Sends the signal to the server and all its processes. After SIGKILL, resolves when the server has exited. */
  readonly signalAll: (signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT') => Promise<void>;
  readonly runs: () => boolean;
  readonly start: () => Promise<void>;
  /** Stops the server and removes its folder. */
  readonly remove: () => Promise<void>;
};

export type ServerOptions = {
  /**
   * Whether acknowledged writes survive a stop of the machine. If false, the server is faster, and a crash of the server may lose
   * the newest writes.
   */
  readonly durable?: boolean;
  /** The primary of which this cluster is a standby. */
  readonly standbyOf?: PostgresServer;
  readonly settings?: Readonly<Record<string, string>>;
  /** The version to run. By default, `findPostgres` chooses the programs. */
  readonly version?: Version;
  /** An existing folder, in which the server creates its own folder. Default: the system's temporary folder. */
  readonly within?: string;
  /** The size of the files of the write-ahead log, in MB. Default: 16. */
  readonly walFileMb?: number;
};

function installed(): string {
  const folder = findPostgres();
  if (folder === undefined) throw new Error(`there is no PostgreSQL: ${WAY_OUT}`);
  return folder;
}

/** Returns the programs of one version. If the server's user may not read this clone, the programs are copied into `folder`. */
function programsOf(version: Version, folder: string): string {
  const found = findVersion(version);
  if (found === undefined) throw new Error(`there is no PostgreSQL ${version}: ${wayOutOf(version)}`);
  if (spawnSync(join(found, 'postgres'), ['--version'], { ...as, cwd: tmpdir() }).status === 0) return found;
  cpSync(dirname(found), join(folder, 'server'), { recursive: true, verbatimSymlinks: true });
  return join(folder, 'server/bin');
}

export function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, bin = installed()): string {
  const { status, stdout, stderr, error } = spawnSync(join(bin, program), args, {
    ...as,
    cwd: tmpdir(),
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], LC_ALL: 'C', ...env },
  });
  if (status !== 0) throw new Error(`${program}: ${error?.message ?? stderr + stdout}`);
  return stdout;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

export async function startPostgres(options: ServerOptions = {}): Promise<PostgresServer> {
  const { durable = false, standbyOf, settings = {}, version, within = tmpdir(), walFileMb = 16 } = options;
  const folder = mkdtempSync(join(within, 'earpiece-postgres-'));
  chmodSync(folder, 0o700);
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const data = join(folder, 'data');
  const bin = version === undefined ? installed() : programsOf(version, folder);
  if (standbyOf === undefined) {
    const password = join(folder, 'password');
    writeFileSync(password, PASSWORD, { mode: 0o644 });
    const made = ['-D', data, '-U', 'ear', '-A', 'scram-sha-256', '--pwfile', password, '-E', 'UTF8', '--no-locale', '--no-sync'];
    run('initdb', [...made, `--wal-segsize=${walFileMb}`], {}, bin);
  } else {
    run(
      'pg_basebackup',
      ['-D', data, '-h', '127.0.0.1', '-p', String(standbyOf.port), '-U', 'ear', '-R', '-X', 'stream', '-c', 'fast'],
      {
        PGPASSWORD: PASSWORD,
      },
    );
  }
  const port = await freePort();
  let child: ChildProcess | undefined;

  const runs = (): boolean => child !== undefined && child.exitCode === null && child.signalCode === null;
  const stop = async (signal: 'SIGQUIT' | 'SIGKILL' = 'SIGQUIT'): Promise<void> => {
    if (child === undefined || !runs()) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  const start = async (): Promise<void> => {
    for (let tries = 1; ; tries++)
      try {
        return await startOnce();
      } catch (error) {
        // After a SIGKILL, a process that the server had just started may live a moment longer.
        if (tries === TRIES || !String(error).includes('shared memory block')) throw error;
        await sleep(500);
      }
  };
  const startOnce = async (): Promise<void> => {
    const given = {
      port: String(port),
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '100',
      ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
      ...settings,
    };
    child = spawn(
      join(bin, 'postgres'),
      ['-D', data, ...Object.entries(given).flatMap(([key, value]) => ['-c', `${key}=${value}`])],
      {
        ...as,
        cwd: tmpdir(),
        env: { PATH: process.env['PATH'], LC_ALL: 'C' },
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    await ready(child);
  };
  await start();
  return {
    url: `postgres://ear:${PASSWORD}@127.0.0.1:${port}/postgres`,
    port,
    data,
    pid: () => child?.pid ?? 0,
    stop,
    signalAll: async (signal) => {
      if (child === undefined || !runs()) return;
      const ended = signal === 'SIGKILL' ? once(child, 'exit') : undefined;
      for (const pid of [child.pid as number, ...childrenOf(child.pid as number)]) kill(pid, signal);
      await ended;
    },
    runs,
    start,
    remove: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function childrenOf(pid: number): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .map((line) => line.trim().split(/\s+/u).map(Number))
    .flatMap(([child, parent]) => (parent === pid && child !== undefined ? [child] : []));
}

/** Sends the signal. Returns false if the process has already ended. */
export function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

/** Resolves when the server accepts connections. */
async function ready(child: ChildProcess, line = 'ready to accept'): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-10_000);
      if (said.includes(line)) resolve();
    });
    child.once('exit', () => reject(new Error(`${child.spawnfile} ended: ${said}`)));
    child.once('error', reject);
  });
}

/** Starts a pooler in front of the server. Each transaction may get another connection of the server. */
export async function startPooler(
  server: PostgresServer,
): Promise<{ readonly url: string; readonly remove: () => Promise<void> }> {
  const program = findPooler();
  if (program === undefined) throw new Error(`there is no PgBouncer: ${WAY_OUT}`);
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-pooler-'));
  const port = await freePort();
  const users = join(folder, 'users');
  const config = join(folder, 'pgbouncer.ini');
  writeFileSync(users, `"ear" "${PASSWORD}"\n`);
  writeFileSync(
    config,
    `[databases]
postgres = host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = transaction
default_pool_size = 3
server_round_robin = 1
ignore_startup_parameters = extra_float_digits
`,
  );
  if (isRoot) for (const path of [folder, users, config]) chownSync(path, NOBODY, NOBODY);
  const child = spawn(program, [config], { ...as, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  await ready(child, 'process up');
  return {
    url: server.url.replace(String(server.port), String(port)),
    remove: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Copies a file into the folder of a stopped cluster, readable by its user only. */
export function place(server: PostgresServer, name: string, from: string): void {
  const to = join(server.data, name);
  cpSync(from, to);
  chmodSync(to, 0o600);
  if (isRoot) chownSync(to, NOBODY, NOBODY);
}
