// Measures a whole process, from its start to its end.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { versus } from './rounds.ts';
import type { Measured } from './row.ts';

/** The built command line is measured, because Node strips the types of sources at each start. */
export const CLI = path.join(import.meta.dirname, '../dist/cli/main.js');

export type Process = { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string; readonly input?: string };

/**
 * Compares the CPU time of an Earpiece command with that of `node -e 0`, in ms. `before` is called before each round of either
 * side.
 */
export async function wholeVersusNode(
  args: readonly string[],
  { quick, before, ...process }: Process & { readonly quick: boolean; readonly before?: () => Promise<unknown> },
): Promise<Measured> {
  const times = quick ? 2 : 10;
  const side = (all: readonly string[]) => async (): Promise<number> => {
    await before?.();
    return (await cpuOf(all, times, process)) / times;
  };
  return versus({ ours: side([CLI, ...args]), theirs: side(['-e', '0']), unit: 'ms', rounds: quick ? 2 : 9 });
}

/**
 * A shell script that runs several processes one after the other with the same input. `times` prints the sum of their processor
 * times.
 */
const SEVERAL = `n=$1; input=$2; shift 2
while [ "$n" -gt 0 ]; do printf %s "$input" | "$0" "$@" || echo "failed: $?"; n=$((n - 1)); done
times`;

/**
 * Returns the user and system time of `runs` processes, in ms. Many shells report times in steps of 10 ms, so one shell runs all
 * processes.
 */
async function cpuOf(args: readonly string[], runs: number, { env, cwd, input = '' }: Process): Promise<number> {
  const child = spawn('sh', ['-c', SEVERAL, process.execPath, String(runs), input, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await new Promise((resolve) => child.once('close', resolve));
  const failed = /failed: \d+/u.exec(said);
  if (failed !== null) throw new Error(`${args.join(' ')} ${failed[0]}: ${said.slice(0, 300)}`);
  const children = said.trim().split('\n').at(-1) ?? '';
  const [user = Number.NaN, system = Number.NaN] = children.split(' ').map(msOf);
  return user + system;
}

/** Parses a time such as `0m0.043000s`. */
function msOf(text: string): number {
  const [, minutes, seconds] = /^(\d+)m([\d.]+)s$/.exec(text) ?? [];
  return (Number(minutes) * 60 + Number(seconds)) * 1_000;
}
