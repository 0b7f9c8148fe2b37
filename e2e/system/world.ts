/**
 * Makes the environment of a storm: one database, two projects, and all their processes. Each kill by the storm is recorded
 * before the kill. A kill at a fault point is recorded afterwards.
 */
import { execFileSync, fork, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { COMPILED } from '../compiled.ts';
import { readJournal, Journal, now } from './journal.ts';
import type { StormLine, UpstreamLine } from './history.ts';
import type { LibraryOptions } from './library.ts';
import type { Did, HostOptions, Report, Wish } from './orders.ts';

const HERE = import.meta.dirname;
export type Project = 'shop' | 'lab';

/** The result of a command of the product. `code` is null if a kill ended the command. */
export type Ran = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

export class World {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'earpiece-system-')));
  readonly taps = join(this.folder, 'taps');
  readonly db = join(this.folder, 'earpiece.db');
  readonly storm: Journal<StormLine>;
  /** The product's own `main`. */
  readonly entry: string;
  readonly library: string;
  /** The module that kills a library user at a named point. A packed build has no such module. */
  readonly faults: string | undefined;
  /** The number of killed processes so far. */
  kills = 0;
  readonly #alive = new Map<number, string>();
  #lives = 0;

  constructor(entry: string) {
    this.entry = resolve(entry);
    if (!existsSync(this.entry)) throw new Error(`--entry ${entry}: there is no such file`);
    const root = join(dirname(this.entry), '..');
    this.library = [join(root, 'index.ts'), join(root, 'index.js')].find((file) => existsSync(file)) ?? this.entry;
    this.faults = [join(root, 'stores/fault-env.ts')].find((file) => existsSync(file));
    mkdirSync(this.taps);
    this.storm = new Journal(join(this.taps, 'storm.jsonl'));
    const budget = '[budget]\nmax_items = 100\nmax_tokens = 20000\n\n[coalesce]\nwindow = "0s"\n';
    for (const [project, more] of [
      ['shop', ''],
      ['lab', budget],
    ] as const) {
      mkdirSync(join(this.folder, project));
      writeFileSync(join(this.folder, project, 'earpiece.toml'), `project = "${project}"\n${more}`);
    }
    for (const program of ['claude', 'codex', 'qwen', 'opencode', 'relay'])
      writeFileSync(join(this.folder, `${program}.mjs`), `import ${JSON.stringify(join(HERE, 'host.ts'))};\n`);
    const servers = Object.fromEntries(
      ['one', 'two'].map((name) => [name, { command: process.execPath, args: [join(HERE, 'upstream.ts'), this.taps, name] }]),
    );
    writeFileSync(join(this.folder, 'servers.json'), JSON.stringify({ mcpServers: servers }));
  }

  at(project: Project): string {
    return join(this.folder, project);
  }

  env(more: Record<string, string> = {}): Record<string, string> {
    return {
      PATH: process.env['PATH'] ?? '',
      ...COMPILED,
      HOME: this.folder,
      XDG_STATE_HOME: join(this.folder, 'state'),
      XDG_CONFIG_HOME: join(this.folder, 'config'),
      EARPIECE_DB: this.db,
      ...more,
    };
  }

  /** Returns the arguments of Node that start a gateway before one wrapped server, or before two. */
  gateway(servers: 1 | 2, options: readonly string[] = []): readonly string[] {
    const wrapped =
      servers === 1
        ? ['--', process.execPath, join(HERE, 'upstream.ts'), this.taps, 'files']
        : ['--servers', join(this.folder, 'servers.json')];
    return [this.entry, 'gateway', ...options, ...wrapped];
  }

  tap(kind: 'client' | 'said', name: string): string {
    return join(this.taps, `${kind}-${name}-${++this.#lives}.jsonl`);
  }

  problem(text: string): void {
    this.storm.write({ t: now(), kind: 'problem', text });
  }

  /** Kills by process id, and only processes of this storm. */
  kill(what: string, pid: number): void {
    // If a fault point is already killing the process, that kill is recorded at the end of the process, and not here.
    if (!this.#alive.has(pid) || !this.#isOurs(pid)) return;
    this.#alive.delete(pid);
    this.#killed({ t: now(), kind: 'killed', what, pid });
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The fault point was faster.
    }
  }

  /** Kills the gateways first, because a gateway that outlives its client counts its written answers as read. */
  killAll(): void {
    const isGateway = (what: string): number => (what.toLowerCase().includes('gateway') ? 0 : 1);
    for (const [pid, what] of [...this.#alive].toSorted(([, a], [, b]) => isGateway(a) - isGateway(b))) this.kill(what, pid);
  }

  born(what: string, pid: number): void {
    this.#alive.set(pid, what);
  }

  /** Records the death of a process. A death that only a fault point can have caused counts as a kill. */
  died(pid: number, signal: string | null, point: string | undefined): void {
    const what = this.#alive.get(pid);
    if (!this.#alive.delete(pid) || signal !== 'SIGKILL' || what === undefined) return;
    this.#killed({ t: now(), kind: 'killed', what, pid, ...(point === undefined ? {} : { point }) });
  }

  #killed(line: Extract<StormLine, { kind: 'killed' }>): void {
    this.kills++;
    this.storm.write(line);
  }

  /** Runs one command of the product to its end or to its kill. */
  async run(
    project: Project,
    args: readonly string[],
    how: {
      readonly killAfterMs?: number | undefined;
      readonly point?: string | undefined;
      readonly env?: Record<string, string>;
    } = {},
  ): Promise<Ran> {
    const fault = how.point === undefined ? {} : { EARPIECE_FAULT: how.point };
    const child = spawn(process.execPath, [this.entry, ...(args.includes('--db') ? [] : ['--db', this.db]), ...args], {
      cwd: this.at(project),
      env: this.env({ ...fault, ...how.env }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const pid = child.pid ?? 0;
    this.born('command', pid);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const timer = how.killAfterMs === undefined ? undefined : setTimeout(() => this.kill('command', pid), how.killAfterMs);
    const [code, signal] = await ended(child);
    clearTimeout(timer);
    this.died(pid, signal, how.point);
    return { code, stdout, stderr };
  }

  host(program: string, options: HostOptions, env: Record<string, string>): Host {
    return new Host(this, program, options, env);
  }

  /** Starts a process. `ready` resolves when a line of the process's stdout or stderr matches `said`. */
  service(what: string, args: readonly string[], said: RegExp, env: Record<string, string> = {}): Service {
    return new Service(this, what, args, said, env);
  }

  libraryUser(
    options: LibraryOptions,
    project: Project,
    point?: string,
  ): { readonly pid: number; readonly ended: Promise<string | null> } {
    const fault = point === undefined ? {} : { EARPIECE_FAULT: point };
    const child = spawn(process.execPath, [join(HERE, 'library.ts'), JSON.stringify(options)], {
      cwd: this.at(project),
      env: this.env(fault),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const pid = child.pid ?? 0;
    this.born('library', pid);
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    const end = ended(child).then(([code, signal]) => {
      this.died(pid, signal, point);
      if (code !== 0 && code !== null) this.problem(`the library user ${options.window} failed: ${stderr.trim().slice(0, 500)}`);
      return signal;
    });
    return { pid, ended: end };
  }

  /** Waits until the processes have ended, then records and kills those that still run. */
  async orphans(withinMs: number): Promise<void> {
    const upstream = readdirSync(this.taps)
      .filter((file) => file.startsWith('upstream-'))
      .flatMap((file) => readJournal<UpstreamLine>(join(this.taps, file)))
      .flatMap((line) => (line.kind === 'started' ? [['wrapped server', line.pid] as const] : []));
    const all = [...upstream, ...[...this.#alive].map(([pid, what]) => [what, pid] as const)];
    const deadline = now() + withinMs;
    let left = all;
    while ((left = left.filter(([, pid]) => this.#isOurs(pid))).length > 0 && now() < deadline) await sleep(100);
    for (const [what, pid] of left) {
      this.storm.write({ t: now(), kind: 'orphan', what, pid });
      this.#alive.set(pid, what);
      this.kill(what, pid);
    }
  }

  /** Whether the process lives and its command line names this folder, because its id may have been reused. */
  #isOurs(pid: number): boolean {
    try {
      process.kill(pid, 0);
      const said = execFileSync('ps', ['-o', 'stat=,command=', '-p', String(pid)], { encoding: 'utf8' });
      return !said.startsWith('Z') && said.includes(this.folder);
    } catch {
      return false;
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

async function ended(child: ChildProcess): Promise<readonly [code: number | null, signal: string | null]> {
  return new Promise((done) => child.once('close', (code, signal) => done([code, signal])));
}

/** One process of a host, from its start to its end. */
export class Host {
  readonly pid: number;
  readonly ended: Promise<void>;
  gateway: number | undefined;
  /** The fault point of the living gateway. */
  point: string | undefined;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (did: Did | undefined) => void>();
  #next = 1;
  #over = false;

  constructor(world: World, program: string, options: HostOptions, env: Record<string, string>) {
    this.#child = fork(join(world.folder, `${program}.mjs`), {
      cwd: options.cwd,
      env: world.env({ ...env, SYSTEM_HOST: JSON.stringify(options) }),
      execArgv: [],
    });
    this.pid = this.#child.pid ?? 0;
    world.born('host', this.pid);
    this.#child.on('message', (report: Report) => {
      if (report.kind === 'gateway') world.born('gateway', (this.gateway = report.pid));
      else if (report.kind === 'gateway_ended') world.died(report.pid, report.signal, this.point);
      else if (report.kind === 'problem') world.problem(report.text);
      else if (report.kind === 'did') this.#done(report);
    });
    this.ended = ended(this.#child).then(([, signal]) => {
      this.#over = true;
      world.died(this.pid, signal, undefined);
      for (const done of this.#waiting.values()) done(undefined);
    });
  }

  /** Sends a wish to the host. Resolves with the result, or with undefined if the host is dead. */
  ask(wish: Wish): Promise<Did | undefined> {
    if (this.#over || !this.#child.connected) return Promise.resolve(undefined);
    const n = this.#next++;
    return new Promise((done) => {
      this.#waiting.set(n, done);
      this.#child.send({ ...wish, n }, (error) => {
        if (error !== null) this.#done({ kind: 'did', n, ok: false });
      });
    });
  }

  #done(did: Did): void {
    this.#waiting.get(did.n)?.(did);
    this.#waiting.delete(did.n);
  }
}

/** `earpiece serve`, or a gateway for HTTP clients. */
export class Service {
  readonly pid: number;
  /** The match of `said`. Undefined if the process ended before the match. */
  readonly ready: Promise<string | undefined>;
  readonly ended: Promise<void>;

  constructor(world: World, what: string, args: readonly string[], said: RegExp, env: Record<string, string>) {
    const child = spawn(process.execPath, [world.entry, '--db', world.db, ...args], {
      cwd: world.at('shop'),
      env: world.env(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.pid = child.pid ?? 0;
    world.born(what, this.pid);
    const { promise, resolve: heard } = Promise.withResolvers<string | undefined>();
    this.ready = promise;
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        const found = said.exec(line)?.[1];
        if (found !== undefined) heard(found);
        if (stream === child.stderr) world.storm.write({ t: now(), kind: 'stderr', pid: this.pid, text: line });
      });
    this.ended = ended(child).then(([code, signal]) => {
      world.died(this.pid, signal, env['EARPIECE_FAULT']);
      if (code !== null && code !== 0) world.problem(`the ${what} ended by itself with ${code}`);
      heard(undefined);
    });
  }
}
