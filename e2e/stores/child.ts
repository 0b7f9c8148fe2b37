/**
 * Starts the children of the store tests: Node processes on the same file, as another user or under a limit if a test requires
 * it.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { programOf } from '../built.ts';

export type Child = {
  readonly process: ChildProcess;
  /** Returns the next line of the child's output; undefined at its end. */
  line(): Promise<string | undefined>;
  /** Writes a line to the child's stdin, which starts its next step. */
  tell(text: string): void;
  ended(): Promise<{ code: number | null; signal: string | null; stderr: string }>;
};

/** Runs a program of this folder: `before` is a command in front of Node, e.g. `['setpriv', '--reuid=65534']`. */
export function runScript(
  name: 'appender' | 'writer',
  args: readonly string[],
  options: { before?: readonly string[]; cwd?: string } = {},
): Child {
  const program = programOf(`store-${name}`);
  const [command = '', ...rest] = [...(options.before ?? []), process.execPath, program, ...args];
  const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'pipe'], ...(options.cwd ? { cwd: options.cwd } : {}) });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = once(child, 'close') as Promise<[number | null, string | null]>;
  return {
    process: child,
    line: async () => {
      const next = await lines.next();
      return next.done ? undefined : next.value;
    },
    tell: (text) => void child.stdin.write(`${text}\n`),
    ended: async () => {
      child.stdin.end();
      const [code, signal] = await exited;
      return { code, signal, stderr };
    },
  };
}
