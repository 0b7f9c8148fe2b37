/**
 * Runs a shell command as a process in a separate session, with its output in one stream. This file is for pipes, and `pty.ts` is
 * for terminals. Both files end processes in the same way.
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
  /** The names of variables with provider keys or Earpiece tokens that the process gets: see `withoutSecrets`. */
  readonly passEnv?: readonly string[];
  /** The shell. Default: bash if it is installed, otherwise sh. */
  readonly shell?: string;
  /** The value of {@link MARK} in the environment of the process. */
  readonly mark: string;
  readonly output: Output;
  /** Whether stdin stays open for input. If false, stdin is empty, and a program that reads stdin gets the end of the file. */
  readonly stdin?: boolean;
  /** Whether the command also ends if the agent's process is killed (`kill -9`). */
  readonly endsWithUs?: boolean;
  /** The time between SIGTERM and SIGKILL. Default 2 s. */
  readonly graceMs?: number;
  /** Called with each new chunk of output. */
  readonly produced?: (chunk: Buffer) => void;
};

/**
 * How a process ended. `signal` is the signal that ended the process, if any. `leftBehind` is the number of other processes of
 * its session that still ran. Earpiece ends these processes too.
 */
export type Exit = { readonly code: number | null; readonly signal: string | null; readonly leftBehind: number };

export interface RunningProcess {
  readonly pid: number;
  /** Resolves when the process and the other processes of its session have ended, and the output was read. */
  readonly ended: Promise<Exit>;
  /** Sends input to the process. Throws `bad_argument` for input that the process does not accept. */
  input(input: Input): void;
  /** Sends SIGTERM to the whole session, and after the grace period SIGKILL to the remaining processes. Resolves like `ended`. */
  stop(): Promise<Exit>;
}

/** Starts a shell command as a process. Throws `ToolFailure` if the process cannot start. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const { output, stdin = false, graceMs = GRACE_MS } = options;
  const shell = startable(options);
  const dog = options.endsWithUs ? watchdog() : undefined;
  // stdout and stderr go into one stream, so that their order is kept. The inner shell reads the command.
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
  child.stdin?.on('error', () => {}); // The process has ended, and its exit is reported.

  const ended = (async (): Promise<Exit> => {
    const { code, signal } = await exited;
    await within(closed, 100);
    // A background process that the command started would outlive the handle and keep the output open.
    const leftBehind = membersOf(pid).length;
    if (leftBehind > 0) await endSession(pid, graceMs);
    unguard();
    dog?.over();
    // A process that left the session may keep the stream open. In that case, 500 ms without output count as the end.
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
        throw new EarpieceError(
          'bad_argument',
          'the process has no open stdin: start it with "stdin": true, or with "pty": true',
        );
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

/**
 * Returns the shell for the command. Throws `ToolFailure` for a command that contains NUL, and for a `cwd` that is not a folder.
 */
export function startable({ command, cwd, shell }: Pick<ProcessOptions, 'command' | 'cwd' | 'shell'>): string {
  if (command.includes('\0')) throw new ToolFailure('the command contains a NUL character; remove it');
  if (!existsSync(cwd)) throw new ToolFailure(`the folder ${JSON.stringify(cwd)} does not exist; name an existing folder in cwd`);
  if (!statSync(cwd).isDirectory()) throw new ToolFailure(`${JSON.stringify(cwd)} is not a folder; name a folder in cwd`);
  return shell ?? (existsSync('/bin/bash') ? '/bin/bash' : '/bin/sh');
}

/** Returns the bytes of a key that also works without a terminal. Throws `bad_argument` for any other key. */
function typed(key: string): string {
  const bytes = keyBytes(key);
  if (bytes === '\r') return '\n';
  if (bytes === '\t' || bytes === ' ' || (bytes.length === 1 && bytes > ' ' && bytes < '\u007f')) return bytes;
  throw new EarpieceError('bad_argument', `the key ${key} needs a terminal: start the command with "pty": true`);
}

/** Waits for the promise, at most `ms`. Resolves to false if `ms` pass first. */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([promise.then(() => true), sleep(ms, false, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
}
