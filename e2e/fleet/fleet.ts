/**
 * Simulates several machines on one engine. Each machine has servers and agents, and no machine can check the processes of
 * another machine.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { createClient, type Client } from '../../src/wire/client/index.ts';
import { DEFAULT_POLICY } from '../../src/core/policy.ts';
import type { Store } from '../../src/core/ports.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { Tokens } from '../../src/server/index.ts';
import { openStore } from '../../src/stores/open.ts';
import { CLI } from '../built.ts';
import { COMPILED } from '../compiled.ts';
import { ServerProcess } from '../server/process.ts';

const MACHINE = pathToFileURL(join(import.meta.dirname, 'machine.ts')).href;

export type AgentProcess = {
  readonly child: ChildProcess;
  /** Resolves with the first line that begins with this text, even if the agent has already printed this line. */
  readonly says: (beginning: string) => Promise<string>;
};

export class Fleet implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'earpiece-fleet-'));
  readonly inbox: Inbox;
  readonly #db: string;
  readonly #token: string;
  readonly #children = new Set<ChildProcess>();
  readonly #servers = new Set<ServerProcess>();
  readonly #others = new Set<number>();

  private constructor(db: string, store: Store, token: string) {
    this.#db = db;
    this.#token = token;
    this.inbox = new Inbox({ store, policies: { policy: () => DEFAULT_POLICY }, timeZone: 'UTC' });
    writeFileSync(join(this.folder, 'earpiece.toml'), 'project = "shop"\n');
  }

  static async open(db: string): Promise<Fleet> {
    const store = await openStore(db);
    const { token } = await new Tokens({ store, speaker: undefined }).create({ kind: 'admin', name: 'fleet' });
    return new Fleet(db, store, token);
  }

  env(machine: string): Record<string, string> {
    return {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      XDG_STATE_HOME: join(this.folder, machine),
      EARPIECE_DB: this.#db,
      FLEET_MACHINE: machine,
      NODE_OPTIONS: `--import ${MACHINE}`,
      ...COMPILED,
    };
  }

  async serve(machine: string): Promise<ServerProcess> {
    const server = new ServerProcess(['--port', '0'], { cwd: this.folder, env: this.env(machine) });
    this.#servers.add(server);
    await server.ready;
    return server;
  }

  async client(server: ServerProcess): Promise<Client> {
    return createClient({ url: (await server.ready).url, token: this.#token });
  }

  /** Starts a command of Earpiece on a machine. */
  command(machine: string, ...args: readonly string[]): ChildProcess {
    return this.#spawn(machine, [CLI, ...args]);
  }

  agent(machine: string, model: string, address: string, message?: string): AgentProcess {
    const program = join(import.meta.dirname, 'agent.ts');
    const child = this.#spawn(machine, [program, this.#db, model, address, ...(message === undefined ? [] : [message])]);
    let errors = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const said: string[] = [];
    const waiting = new Set<() => void>();
    const wake = (): void => waiting.forEach((look) => look());
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      said.push(line);
      wake();
    });
    child.once('close', wake);
    const says = (beginning: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const line = said.find((each) => each.startsWith(beginning));
          if (line === undefined && child.exitCode === null && child.signalCode === null) return;
          waiting.delete(look);
          if (line === undefined) reject(new Error(`the agent on ${machine} ended: ${errors}`));
          else resolve(line);
        };
        waiting.add(look);
        look();
      });
    return { child, says };
  }

  /** Registers a process that another process has started, so that the process is killed at the end. */
  ends(pid: number | undefined): void {
    if (pid !== undefined) this.#others.add(pid);
  }

  #spawn(machine: string, args: readonly string[]): ChildProcess {
    const child = spawn(process.execPath, args, { cwd: this.folder, env: this.env(machine), stdio: 'pipe' });
    this.#children.add(child);
    return child;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#children) await killed(child);
    for (const pid of this.#others)
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // The process has already ended.
      }
    for (const server of this.#servers) await server[Symbol.asyncDispose]();
    await this.inbox.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

export interface Balancer extends AsyncDisposable {
  readonly url: string;
  /** Sends new connections to this server. */
  use(url: string): void;
}

/** Starts a proxy with one URL for all nodes. The proxy does not interpret HTTP, so no session is bound to a node. */
export async function startBalancer(): Promise<Balancer> {
  let port: number | undefined;
  const open = new Set<Socket>();
  const server = createServer((incoming) => {
    if (port === undefined) return incoming.destroy();
    const outgoing = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(from);
      from.on('error', () => to.destroy()).on('close', () => (open.delete(from), to.destroy()));
      from.pipe(to);
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    use: (url) => (port = Number(new URL(url).port)),
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
