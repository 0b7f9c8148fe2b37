/**
 * Runs a shell command as a process in a separate session, with its output in one stream. Pipes are in this file, terminals in
 * `pty.ts`; both end the same way.
 */
import { spawn } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { EarpieceError } from '../core/errors.ts';
import { withoutSecrets } from './environment.ts';
import { keyBytes } from './keys.ts';
import type { Output } from './output.ts';
import { endAtExit, endSession, GRACE_MS, MARK, membersOf, send } from './sessions.ts';
import type { Input } from './stateful-tool.ts';
import { ToolFailure } from './state.ts';
import { watchdog } from './watchdog.ts';

export type ProcessOptions = {
  readonly command: string;
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Names of provider keys and Earpiece tokens that the process still gets; see `withoutSecrets`. */
  readonly passEnv?: readonly string[];
  /** Default: bash if it is installed, otherwise sh. */
  readonly shell?: string;
  /** A variable in the environment of the process, see {@link MARK}. */
  readonly mark: string;
  readonly output: Output;
  /** Leave stdin open for input. Without it, stdin is empty, and a program that reads it gets the end of the file. */
  readonly stdin?: boolean;
  /** Also end it when this process is killed. */
  readonly endsWithUs?: boolean;
  /** Between SIGTERM and SIGKILL. Default 2 s. */
  readonly graceMs?: number;
  /** Called for each new output. */
  readonly produced?: (chunk: Buffer) => void;
};

/** `signal` if a signal ended it. `leftBehind`: processes that it started and left running; they were ended. */
export type Exit = { readonly code: number | null; readonly signal: string | null; readonly leftBehind: number };

export interface RunningProcess {
  readonly pid: number;
  /** Resolves when it has ended, its session has no processes left and its output is complete. Never rejects. */
  readonly ended: Promise<Exit>;
  /** Throws `bad_argument` for input that it does not accept. */
  input(input: Input): void;
  /** SIGTERM for the whole session, SIGKILL after the grace. Resolves with `ended`. */
  stop(): Promise<Exit>;
}

/** Throws `ToolFailure` if it could not be started. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const { output, stdin = false, graceMs = GRACE_MS } = options;
  const shell = startable(options);
  // Both outputs go into one stream, so that their order is kept. The second shell reads the command.
  const dog = options.endsWithUs ? watchdog() : undefined;
  const child = spawn('/bin/sh', ['-c', 'exec "$0" -c "$1" 2>&1', shell, options.command], {
    detached: true,
    cwd: options.cwd,
    env: { ...withoutSecrets(process.env, options.passEnv), ...options.env, [MARK]: options.mark },
    stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'ignore'],
  });
  const failed = new Promise<Error>((resolve) => child.on('error', resolve));
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  const spawned = new Promise<void>((resolve) => child.once('spawn', resolve));
  const failure = await Promise.race([failed, spawned]);
  const { pid, stdout } = child;
  if (failure !== undefined || pid === undefined || stdout === null) {
    dog?.over();
    throw new ToolFailure(`could not be started: ${failure?.message ?? 'no process'}`, { cause: failure, transient: true });
  }

  dog?.owns(pid);
  const unguard = endAtExit(pid);
  let lastAt = performance.now();
  const closed = new Promise<void>((resolve) => stdout.once('close', resolve));
  stdout.on('error', () => stdout.destroy());
  stdout.on('data', (chunk: Buffer) => {
    lastAt = performance.now();
    output.append(chunk);
    options.produced?.(chunk);
  });
  child.stdin?.on('error', () => {}); // The process has gone; its exit is reported.

  const ended = (async (): Promise<Exit> => {
    const { code, signal } = await exited;
    await within(closed, 100);
    // A background process of the command would outlive its handle and hold its output open.
    const leftBehind = membersOf(pid).length;
    if (leftBehind > 0) await endSession(pid, graceMs);
    unguard();
    dog?.over();
    // A process that left the session may still hold the stream: then silence counts as the end.
    while (!(await within(closed, 100)) && performance.now() - lastAt < 500);
    stdout.destroy();
    child.stdin?.destroy();
    return { code, signal, leftBehind };
  })();

  return {
    pid,
    ended,
    input: ({ text, keys, answers }) => {
      const { stdin: pipe } = child;
      if (keys.includes('ctrl-c')) return send(-pid, 'SIGINT');
      if (pipe === null || pipe.destroyed || pipe.writableEnded)
        throw new EarpieceError('bad_argument', 'it has no open stdin: start it with "stdin": true, or with "pty": true');
      const pressed = keys.filter((key) => key !== 'ctrl-d').map((key) => typed(key));
      pipe.write(`${text}${answers && keys.length === 0 && !text.endsWith('\n') ? '\n' : ''}${pressed.join('')}`);
      if (keys.includes('ctrl-d')) pipe.end();
    },
    stop: async () => {
      await endSession(pid, graceMs);
      return ended;
    },
  };
}

/** The shell for the command. Throws `ToolFailure` with the way out if the command cannot run at all. */
export function startable({ command, cwd, shell }: Pick<ProcessOptions, 'command' | 'cwd' | 'shell'>): string {
  if (command.includes('\0')) throw new ToolFailure('the command contains a NUL character');
  if (!existsSync(cwd)) throw new ToolFailure(`the folder ${JSON.stringify(cwd)} does not exist`);
  if (!statSync(cwd).isDirectory()) throw new ToolFailure(`${JSON.stringify(cwd)} is not a folder`);
  return shell ?? (existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh');
}

/** Keys that also work without a terminal. */
function typed(key: string): string {
  const bytes = keyBytes(key);
  if (bytes === '\r') return '\n';
  if (bytes === '\t' || bytes === ' ' || (bytes.length === 1 && bytes > ' ' && bytes < '\u007f')) return bytes;
  throw new EarpieceError('bad_argument', `the key ${key} needs a terminal: start it with "pty": true`);
}

/** False if `ms` passed first. */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([promise.then(() => true), sleep(ms, false, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
