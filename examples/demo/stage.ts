/**
 * Makes the place of the story: a temporary folder with the project and a separate database, and every process that the story
 * starts. The stage uses no configuration and no data of the user, and leaves nothing behind.
 */
import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The command line from the sources. Tests use the built command line instead. */
export const EARPIECE = process.env['EARPIECE_TEST_CLI'] ?? join(import.meta.dirname, '../../src/cli/main.ts');
export const AGENT = 'shop/coder';

export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };
export type RunOptions = { readonly input?: string; readonly env?: Readonly<Record<string, string>> };

const LONGEST_MS = 20_000;

export class Stage {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'earpiece-')));
  readonly project = join(this.folder, 'shop');
  readonly env: Readonly<Record<string, string>>;
  #running = new Set<ChildProcess>();
  #ends: (() => Promise<unknown>)[] = [];

  constructor() {
    mkdirSync(this.project);
    this.env = {
      ...clean(process.env),
      EARPIECE_DB: join(this.folder, 'earpiece.db'),
      EARPIECE_ADDRESS: AGENT,
      XDG_CACHE_HOME: join(this.folder, 'cache'),
      XDG_CONFIG_HOME: join(this.folder, 'config'),
      XDG_STATE_HOME: join(this.folder, 'state'),
      NO_COLOR: '1',
    };
  }

  /** Starts a process in a separate process group. The process and its children end at the latest with the stage. */
  start(command: string, args: readonly string[], env: RunOptions['env'] = this.env): ChildProcessWithoutNullStreams {
    const child = spawn(command, args, { cwd: this.project, env, stdio: 'pipe', detached: true });
    this.#running.add(child);
    child.once('close', () => this.#running.delete(child));
    // A process that ends before it has read its whole input reports its failure by its exit code.
    child.stdin.on('error', () => {});
    return child;
  }

  /** Runs a command to its end. Rejects if the command cannot be started or does not end. */
  async run(command: string, args: readonly string[], { input = '', env = this.env }: RunOptions = {}): Promise<Ran> {
    const child = this.start(command, args, env);
    const out = { stdout: '', stderr: '' };
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].setEncoding('utf8').on('data', (text: string) => (out[stream] += text));
    child.stdin.end(input);
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const timer = setTimeout(() => {
      endGroup(child);
      reject(new Error(`${args.join(' ')} did not end within ${LONGEST_MS / 1000} s`));
    }, LONGEST_MS);
    child.once('error', reject).once('close', (code) => resolve(code ?? 1));
    try {
      return { code: await promise, ...out };
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * Runs the command line for another person or program. The address of the agent is removed from the environment, because the
   * command would otherwise act for the agent.
   */
  async earpiece(args: readonly string[], { input, env = this.env }: RunOptions = {}): Promise<string> {
    const { EARPIECE_ADDRESS: own, ...outside } = env;
    const to = args[0] === 'send' && !args.includes('--to') && own !== undefined ? ['--to', own] : [];
    const ran = await this.run(process.execPath, [EARPIECE, ...args, ...to], {
      ...(input === undefined ? {} : { input }),
      env: outside,
    });
    if (ran.code !== 0) throw new Error(`earpiece ${args[0]} ended with exit code ${ran.code}: ${complaintIn(ran.stderr)}`);
    return ran.stdout.trimEnd();
  }

  /** Registers another function that must run at the end. */
  onEnd(end: () => Promise<unknown>): void {
    this.#ends.push(end);
  }

  /** Ends all processes and removes the folder. May be called twice. */
  async end(): Promise<void> {
    await Promise.allSettled(this.#ends.splice(0).map((end) => end()));
    this.clear();
  }

  /** Does the part of `end` that is possible while the process exits. */
  clear(): void {
    for (const child of this.#running) endGroup(child);
    this.#running.clear();
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Returns the line of a process's stderr that names the problem. */
export const complaintIn = (stderr: string): string =>
  (/^earpiece: .*$/m.exec(stderr) ?? /^\w*Error\b.*$/m.exec(stderr) ?? /^.+$/m.exec(stderr))?.[0] ?? '';

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

/**
 * Returns the environment without variables that would connect to the user's own agents, or that make a test runner believe that
 * it is nested.
 */
function clean(env: NodeJS.ProcessEnv): Record<string, string> {
  const foreign = /^(EARPIECE_|CLAUDE_CODE_SESSION_ID$|NODE_TEST_CONTEXT$|FORCE_COLOR$|VITEST)/;
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined || foreign.test(name) ? [] : [[name, value]])),
  );
}
