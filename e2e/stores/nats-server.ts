/** Starts real NATS servers for tests: a single server or a cluster, in temporary folders and on free ports. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { findNats, WAY_OUT } from '../../scripts/nats.ts';
import { freePort } from './postgres-server.ts';

/** If the tests run as root, the servers run as the user nobody, provided that this user may run the program. */
const NOBODY = 65_534;
const isNobody = (program: string): boolean =>
  process.getuid?.() === 0 && spawnSync(program, ['--version'], { uid: NOBODY, gid: NOBODY, cwd: tmpdir() }).status === 0;

export type NatsNode = {
  readonly name: string;
  readonly port: number;
  readonly stop: (signal?: 'SIGTERM' | 'SIGKILL') => Promise<void>;
  readonly signal: (signal: 'SIGSTOP' | 'SIGCONT') => void;
  readonly runs: () => boolean;
  readonly start: () => Promise<void>;
};

export type NatsServers = {
  /** The URL with all nodes, without the name of a store. */
  readonly url: string;
  readonly nodes: readonly NatsNode[];
  /** The folder with the data of all nodes. */
  readonly folder: string;
  /** Stops the servers and removes `folder`. */
  readonly remove: () => Promise<void>;
};

/**
 * Starts one server, or a cluster of `size` nodes. Another process may take a chosen port before a node listens on the port, so a
 * failed start is repeated on other ports. See `startOnce` for the parameters.
 */
export async function startNats(...[size = 1, ...more]: Parameters<typeof startOnce>): Promise<NatsServers> {
  for (let tries = 1; ; tries++) {
    try {
      const servers = await startOnce(size, ...more);
      if (size === 1 || (await hasFormed(servers, size))) return servers;
      await servers.remove();
      if (tries === TRIES) throw new Error(`the ${size} nodes did not form a cluster within ${FORMED_MS} ms`);
    } catch (error) {
      if (tries === TRIES) throw error;
    }
  }
}

const TRIES = 3;
const FORMED_MS = 25_000;

/** Whether the cluster accepts a stream with a copy on each node within `FORMED_MS`. */
async function hasFormed({ url, nodes }: NatsServers, size: number): Promise<boolean> {
  const servers = url.replace('nats://', '').split(',');
  for (const end = performance.now() + FORMED_MS; performance.now() < end && nodes.every((node) => node.runs());) {
    const nc = await connect({ servers, timeout: 2_000, reconnect: false }).catch(() => undefined);
    try {
      if (nc === undefined) continue;
      const jsm = await jetstreamManager(nc, { timeout: 5_000, checkAPI: false });
      await jsm.streams.add({ name: 'FORMED', subjects: ['formed'], num_replicas: size });
      await jsm.streams.delete('FORMED');
      return true;
    } catch {
      // The nodes have no leader yet, or not all of them are known.
    } finally {
      await nc?.close();
      await sleep(200);
    }
  }
  return false;
}

/**
 * Starts the nodes. `storage` names the folder of each node's data. `config` gets the settings of JetStream, and returns the
 * configuration of the server.
 */
async function startOnce(
  size = 1,
  storage?: readonly string[],
  config: (jetstream: string) => string = (jetstream) => `jetstream { ${jetstream} }`,
): Promise<NatsServers> {
  const program = findNats();
  if (program === undefined) throw new Error(`there is no nats-server: ${WAY_OUT}`);
  const asNobody = isNobody(program);
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-nats-'));
  chmodSync(folder, 0o700);
  const own = (path: string): void => (asNobody ? chownSync(path, NOBODY, NOBODY) : undefined);
  own(folder);
  const ports = await Promise.all(Array.from({ length: 2 * size }, freePort));
  const routes = ports.slice(size).map((port) => `nats://127.0.0.1:${port}`);
  const nodes = ports.slice(0, size).map((port, n): NatsNode => {
    const file = join(folder, `${n}.conf`);
    const cluster = `cluster { name: ear, host: 127.0.0.1, port: ${ports[size + n]}, no_advertise: true, routes: [${routes.join(', ')}] }`;
    writeFileSync(
      file,
      `server_name: n${n}
host: 127.0.0.1
port: ${port}
${config(`store_dir: "${storage?.[n] ?? join(folder, String(n))}"`)}
${size === 1 ? '' : cluster}
`,
    );
    own(file);
    let child: ChildProcess | undefined;
    const runs = (): boolean => child !== undefined && child.exitCode === null && child.signalCode === null;
    return {
      name: `n${n}`,
      port,
      runs,
      signal: (signal) => void (runs() && child?.kill(signal)),
      start: async () => {
        child = spawn(program, ['-c', file], {
          ...(asNobody ? { uid: NOBODY, gid: NOBODY } : {}),
          cwd: folder,
          stdio: ['ignore', 'ignore', 'pipe'],
        });
        await ready(child, size === 1 ? /Server is ready/u : /JetStream cluster new metadata leader|Server is ready/u);
      },
      stop: async (signal = 'SIGTERM') => {
        if (child === undefined || !runs()) return;
        const ended = once(child, 'exit');
        child.kill(signal);
        await ended;
      },
    };
  });
  const servers: NatsServers = {
    url: `nats://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    nodes,
    folder,
    remove: async () => {
      await Promise.all(nodes.map((node) => node.stop('SIGKILL')));
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await Promise.all(nodes.map((node) => node.start()));
  } catch (error) {
    await servers.remove();
    throw error;
  }
  return servers;
}

/** Resolves when the output of the server matches `line`. */
async function ready(child: ChildProcess, line: RegExp): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-10_000);
      if (line.test(said)) resolve();
    });
    child.once('exit', () => reject(new Error(`${child.spawnfile} ended: ${said}`)));
    child.once('error', reject);
  });
}
