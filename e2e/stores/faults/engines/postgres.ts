/** Runs a primary and a synchronous standby, with a schema for each schedule. The clients know both hosts. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { kill, PASSWORD, type PostgresServer, run, startPostgres } from '../../postgres-server.ts';
import { Disk, faultOf, whyNoDisk } from '../disk.ts';
import { type Engine, type Fault, isOfDisk } from './engine.ts';

/** The settings of both servers. The WAL is small, so that the primary soon needs new WAL files and notices a full disk. */
const SETTINGS = { wal_level: 'replica', max_wal_senders: '8', min_wal_size: '2MB', max_wal_size: '16MB', wal_keep_size: '16MB' };
/** The maximum time until a standby follows its primary. */
const FOLLOWS_MS = 60_000;

type Node = { readonly disk: Disk | undefined; readonly within: string; server: PostgresServer | undefined };

export async function startPostgresPair(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-faults-'));
  // The servers run as another user.
  chmodSync(folder, 0o755);
  const lack = whyNoDisk();
  const nodes = ['a', 'b'].map((name): Node => {
    const disk = lack === undefined ? new Disk(join(folder, name), 256) : undefined;
    return { disk, within: disk?.folder ?? folder, server: undefined };
  }) as [Node, Node];
  const pair = new Pair(nodes);
  await pair.mend().catch(async (error: unknown) => {
    await pair.close();
    throw error;
  });
  return {
    lacks: lack === undefined ? [] : [lack],
    begin: async ({ number }) => {
      await pair.mend();
      return pair.url(`f${number}`);
    },
    perform: (fault) => pair.perform(fault),
    heal: () => pair.heal(),
    end: () => pair.dropSchema(),
    close: async () => {
      await pair.close();
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

class Pair {
  /** Both servers. The first is the primary. */
  #nodes: [Node, Node];
  #schema = '';

  constructor(nodes: [Node, Node]) {
    this.#nodes = nodes;
  }

  url(schema: string): string {
    this.#schema = schema;
    const hosts = this.#nodes.map(({ server }) => `127.0.0.1:${server?.port}`).toSorted();
    return `postgres://ear:${PASSWORD}@${hosts.join(',')}/postgres?schema=${schema}`;
  }

  get #primary(): PostgresServer {
    return this.#nodes[0].server as PostgresServer;
  }

  get #standby(): PostgresServer {
    return this.#nodes[1].server as PostgresServer;
  }

  async perform({ kind, ms }: Fault): Promise<boolean> {
    const { disk } = this.#nodes[0];
    if (disk !== undefined && isOfDisk(kind)) return faultOf(disk, kind, ms);
    switch (kind as string) {
      case 'node.kill':
        await this.#primary.signalAll('SIGKILL');
        await sleep(ms);
        await this.#primary.start();
        return true;
      case 'node.pause':
        return this.#pause(this.#primary, ms);
      case 'backend.kill': {
        // When one backend is killed, the server ends all connections and recovers.
        const text = 'SELECT pid FROM pg_stat_activity WHERE datname IS NOT NULL AND pid <> pg_backend_pid()';
        const [backend] = await this.#ask<{ pid: number }>(this.#primary, text);
        return backend !== undefined && kill(backend.pid, 'SIGKILL');
      }
      case 'standby.kill':
        // Without this check, a lost primary would start again as a second primary.
        if (!(await this.#hasStandby())) return false;
        await this.#standby.signalAll('SIGKILL');
        await sleep(ms);
        await this.#standby.start();
        return true;
      case 'standby.pause':
        return (await this.#hasStandby()) && this.#pause(this.#standby, ms);
      case 'primary.lost':
        return this.#promote();
      case 'wakeups':
        return this.#wakeUp(ms);
      default:
        return false;
    }
  }

  async #pause(server: PostgresServer, ms: number): Promise<boolean> {
    await server.signalAll('SIGSTOP');
    await sleep(ms);
    await server.signalAll('SIGCONT');
    return true;
  }

  /** Kills the primary, which never returns, and lets the standby take over. */
  async #promote(): Promise<boolean> {
    if (!(await this.#hasStandby())) return false;
    await this.#primary.signalAll('SIGKILL');
    run('pg_ctl', ['promote', '-D', this.#standby.data]);
    this.#nodes = [this.#nodes[1], this.#nodes[0]];
    return true;
  }

  /** Sends `NOTIFY` with old positions, in any order and repeatedly. */
  async #wakeUp(ms: number): Promise<boolean> {
    const head = await this.#ask<{ seq: string }>(
      this.#primary,
      `SELECT coalesce(max(seq), 1) AS seq FROM "${this.#schema}".records`,
    );
    const client = await connected(this.#primary);
    for (const end = performance.now() + ms; performance.now() < end; await sleep(5)) {
      const seq = Math.ceil(Math.random() * Number(head[0]?.seq ?? 1));
      await client.query(`NOTIFY "earpiece_${this.#schema}", '${seq}'`);
      await client.query(`NOTIFY "earpiece_${this.#schema}", '${seq}'`);
    }
    await client.end();
    return true;
  }

  /** Makes the primary accept writes again. */
  async heal(): Promise<void> {
    for (const { disk } of this.#nodes) disk?.mend();
    for (const { server } of this.#nodes) await server?.signalAll('SIGCONT');
    if (!this.#primary.runs()) await this.#primary.start();
    if (!(await this.#hasStandby()))
      await this.#ask(this.#primary, 'ALTER SYSTEM RESET synchronous_standby_names', 'SELECT pg_reload_conf()');
  }

  /** Makes the primary accept writes again, and gives it a synchronous standby. */
  async mend(): Promise<void> {
    const [first, second] = this.#nodes;
    first.server ??= await startPostgres({ durable: true, walFileMb: 1, within: first.within, settings: SETTINGS });
    await this.heal();
    if (await this.#hasStandby()) return;
    await second.server?.signalAll('SIGKILL');
    await second.server?.remove();
    second.server = await startPostgres({ durable: true, within: second.within, standbyOf: first.server, settings: SETTINGS });
    // Only this server gets the setting, because a standby that takes over has no standby at first.
    await this.#ask(first.server, "ALTER SYSTEM SET synchronous_standby_names = '*'", 'SELECT pg_reload_conf()');
    for (const end = performance.now() + FOLLOWS_MS; !(await this.#hasStandby()); await sleep(50))
      if (performance.now() > end) throw new Error('the standby does not follow its primary');
  }

  async #hasStandby(): Promise<boolean> {
    if (this.#nodes[1].server?.runs() !== true) return false;
    const rows = await this.#ask(
      this.#primary,
      "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'",
    );
    return rows.length > 0;
  }

  async dropSchema(): Promise<void> {
    await this.#ask(this.#primary, `DROP SCHEMA IF EXISTS "${this.#schema}" CASCADE`);
  }

  async close(): Promise<void> {
    for (const { server, disk } of this.#nodes) {
      disk?.mend();
      await server?.signalAll('SIGCONT');
      await server?.signalAll('SIGKILL');
      await server?.remove();
      disk?.remove();
    }
  }

  /**
   * Connects, with retries while the server recovers, and runs the statements in order. Resolves with the rows of the first
   * statement.
   */
  async #ask<R extends pg.QueryResultRow>(server: PostgresServer, ...texts: readonly string[]): Promise<R[]> {
    const client = await connected(server);
    try {
      const rows: R[][] = [];
      for (const text of texts) rows.push((await client.query<R>(text)).rows);
      return rows[0] ?? [];
    } finally {
      await client.end();
    }
  }
}

async function connected(server: PostgresServer): Promise<pg.Client> {
  for (const end = performance.now() + FOLLOWS_MS; ; await sleep(50)) {
    const client = new pg.Client({ connectionString: server.url });
    client.on('error', () => {});
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (performance.now() > end) throw error;
    }
  }
}
