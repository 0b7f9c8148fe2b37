/** Runs a single NATS server and a cluster of three, with separate streams for each schedule. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { type NatsNode, type NatsServers, startNats } from '../../nats-server.ts';
import { Disk, faultOf, whyNoDisk } from '../disk.ts';
import { type Engine, type Fault, isOfDisk } from './engine.ts';

const MEGABYTES = 128;
/** The maximum time until a cluster has a leader and three copies. */
const READY_MS = 120_000;
/** `heal` waits this long for the copy of a node before it starts the node again. */
const LATE_MS = 20_000;

export async function startNatsServers(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-faults-'));
  // The servers run as another user.
  chmodSync(folder, 0o755);
  const lack = whyNoDisk();
  const made = async (size: number): Promise<Servers> => {
    const disks = Array.from({ length: size }, (_, n) =>
      lack === undefined ? new Disk(join(folder, `${size}-${n}`), MEGABYTES) : undefined,
    );
    const storage = disks.every((disk) => disk !== undefined) ? disks.map((disk) => disk.folder) : undefined;
    return new Servers(await startNats(size, storage), disks);
  };
  const [one, three] = [await made(1), await made(3)];
  let servers = one;
  return {
    lacks: lack === undefined ? [] : [lack],
    begin: async ({ number, replicas }) => {
      servers = replicas === 3 ? three : one;
      return servers.begin(`f${number}`, replicas);
    },
    perform: (fault) => servers.perform(fault),
    heal: () => servers.heal(),
    end: () => servers.end(),
    close: async () => {
      await Promise.all([one.close(), three.close()]);
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

class Servers {
  readonly #servers: NatsServers;
  readonly #disks: readonly (Disk | undefined)[];
  #store = '';

  constructor(servers: NatsServers, disks: readonly (Disk | undefined)[]) {
    this.#servers = servers;
    this.#disks = disks;
  }

  async begin(store: string, replicas: number): Promise<string> {
    await this.heal();
    this.#store = store;
    return `${this.#servers.url}/${store}?replicas=${replicas}`;
  }

  async perform({ kind, ms, node: at }: Fault): Promise<boolean> {
    const { nodes } = this.#servers;
    const node = nodes[at % nodes.length] as NatsNode;
    const disk = this.#disks[at % nodes.length];
    if (disk !== undefined && isOfDisk(kind)) {
      await faultOf(disk, kind, ms);
      // A server whose disk was full turns its streams off until it is restarted.
      return kind === 'disk.full' ? restart(node, 0) : true;
    }
    switch (kind as string) {
      case 'node.kill':
        return restart(node, ms);
      case 'node.pause':
        node.signal('SIGSTOP');
        await sleep(ms);
        node.signal('SIGCONT');
        return true;
      case 'leader.kill': {
        const leader = await this.#leader();
        return restart(nodes.find(({ name }) => name === leader) ?? node, ms);
      }
      case 'leader.stepdown':
        await this.#asked((_, nc) => nc.request(`$JS.API.STREAM.LEADER.STEPDOWN.${this.#stream}`, '', { timeout: 5_000 }));
        return true;
      case 'wakeups':
        return this.#wakeUp(ms);
      default:
        return false;
    }
  }

  /** Sends wake-ups with old positions, in any order and repeatedly. */
  async #wakeUp(ms: number): Promise<boolean> {
    await this.#asked(async (jsm, nc) => {
      const { state } = await jsm.streams.info(this.#stream);
      for (const end = performance.now() + ms; performance.now() < end; await sleep(5)) {
        const seq = String(Math.ceil(Math.random() * state.last_seq));
        for (let times = 0; times < 2; times++) nc.publish(`earpiece.${this.#store}.head`, seq);
      }
    });
    return true;
  }

  /** Restarts stopped nodes, and waits until the streams of the schedule have a leader and all their copies. */
  async heal(): Promise<void> {
    for (const disk of this.#disks) disk?.mend();
    for (const node of this.#servers.nodes) node.signal('SIGCONT');
    await Promise.all(this.#servers.nodes.filter((node) => !node.runs()).map((node) => node.start()));
    let since = performance.now();
    await until(async () => {
      const late = await this.#lateNodes();
      if (late.length > 0 && performance.now() - since > LATE_MS) {
        // An operator does the same: nats-server 2.10 sometimes sends no copies to a node that was killed and started.
        console.log(`${late.map(({ name }) => name).join(', ')} got no copies for ${LATE_MS / 1_000} s, and is started again`);
        for (const node of late) await restart(node, 0);
        since = performance.now();
      }
      return late.length === 0;
    });
  }

  /** Returns the nodes whose copies of the schedule's streams are not current. Without a leader, returns all nodes. */
  async #lateNodes(): Promise<readonly NatsNode[]> {
    const { nodes } = this.#servers;
    return this.#asked(async (jsm) => {
      await jsm.getAccountInfo();
      if (this.#store === '') return [];
      const infos = await Promise.all(
        [this.#stream, `${this.#stream}_TABLES`].map((name) =>
          jsm.streams.info(name).catch((error: unknown) => {
            // The stream does not exist yet.
            if ((error as { code?: number }).code === 10_059) return undefined;
            throw error;
          }),
        ),
      );
      const clusters = infos.flatMap((info) => info?.cluster ?? []);
      if (clusters.some(({ leader = '' }) => leader === '')) return nodes;
      const late = new Set(
        clusters.flatMap(({ replicas = [] }) => replicas.filter(({ current }) => !current).map(({ name }) => name)),
      );
      return nodes.filter(({ name }) => late.has(name));
    }).catch(() => nodes);
  }

  async end(): Promise<void> {
    await until(() =>
      this.#asked(async (jsm) => {
        for (const name of [this.#stream, `${this.#stream}_TABLES`])
          await jsm.streams.delete(name).catch((error: unknown) => {
            if ((error as { code?: number }).code !== 10_059) throw error;
          });
        return true;
      }).catch(() => false),
    );
    this.#store = '';
  }

  async close(): Promise<void> {
    for (const disk of this.#disks) disk?.mend();
    for (const node of this.#servers.nodes) node.signal('SIGCONT');
    await this.#servers.remove();
    for (const disk of this.#disks) disk?.remove();
  }

  get #stream(): string {
    return `EARPIECE_${this.#store}`;
  }

  #leader(): Promise<string | undefined> {
    return this.#asked(async (jsm) => (await jsm.streams.info(this.#stream)).cluster?.leader).catch(() => undefined);
  }

  async #asked<T>(work: (jsm: JetStreamManager, nc: NatsConnection) => Promise<T>): Promise<T> {
    const servers = this.#servers.nodes.filter((node) => node.runs()).map(({ port }) => `127.0.0.1:${port}`);
    const nc = await connect({ servers, timeout: 2_000, reconnect: false });
    try {
      return await work(await jetstreamManager(nc, { timeout: 2_000, checkAPI: false }), nc);
    } finally {
      await nc.close();
    }
  }
}

async function restart(node: NatsNode, ms: number): Promise<true> {
  await node.stop('SIGKILL');
  await sleep(ms);
  await node.start();
  return true;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + READY_MS; !(await condition()); await sleep(50))
    if (performance.now() > end) throw new Error('the servers have no leader, or not all copies');
}
