// What a whole process costs, from its start to its end.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { versus } from './rounds.ts';
import type { Measured } from './row.ts';

/** As it is installed: the sources would be stripped of their types at each start. */
export const CLI = path.join(import.meta.dirname, '../dist/cli/main.js');

export type Process = { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string; readonly input?: string };

/** CPU time of a command of ours beside that of `node -e 0`, ms. `before` is called before each of their rounds. */
export async function wholeVersusNode(
  args: readonly string[],
  { quick, before, ...process }: Process & { readonly quick: boolean; readonly before?: () => Promise<unknown> },
): Promise<Measured> {
  const times = quick ? 2 : 10;
  const side = (all: readonly string[]) => async (): Promise<number> => {
    await before?.();
    let ms = 0;
    for (let n = 0; n < times; n++) ms += await cpuOf(all, process);
    return ms / times;
  };
  return versus({ ours: side([CLI, ...args]), theirs: side(['-e', '0']), unit: 'ms', rounds: quick ? 2 : 9 });
}

/** User and system time of one process, ms; the shell that waits for it tells. */
async function cpuOf(args: readonly string[], { env, cwd, input = '' }: Process): Promise<number> {
  const child = spawn('sh', ['-c', '"$0" "$@"; echo " $?"; times', process.execPath, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  child.stdin.on('error', () => {}).end(input);
  await new Promise((resolve) => child.once('close', resolve));
  const [code, , children = ''] = said.trim().split('\n').slice(-3);
  if (code?.split(' ').at(-1) !== '0') throw new Error(`${args.join(' ')} failed: ${said.slice(0, 300)}`);
  const [user = Number.NaN, system = Number.NaN] = children.split(' ').map(msOf);
  return user + system;
}

/** `0m0.043000s` */
function msOf(text: string): number {
  const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(text) ?? [];
  return (Number(minutes) * 60 + Number(seconds)) * 1_000;
}
