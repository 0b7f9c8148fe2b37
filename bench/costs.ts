// The costs of an operation besides its time: processor time, and system calls. Other work on the machine stretches the time of
// an operation, but hardly these costs.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The processes whose costs count for a side. */
export type Pids = readonly number[];

/** The processor time of the processes, all threads together, in microseconds. Undefined if the system does not show it. */
export function cpuUs(pids: Pids): number | undefined {
  let sum = 0;
  for (const pid of pids) {
    const us = pid === process.pid ? ownCpuUs() : linuxCpuUs(pid);
    if (us === undefined) return undefined;
    sum += us;
  }
  return sum;
}

function ownCpuUs(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** A thread that has ended is missing here, but the threads of both sides keep running. */
function linuxCpuUs(pid: number): number | undefined {
  try {
    const tasks = fs.readdirSync(`/proc/${pid}/task`);
    const ns = tasks.map((task) => Number(fs.readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]));
    return ns.reduce((sum, each) => sum + each, 0) / 1_000;
  } catch {
    return undefined;
  }
}

const hasStrace = spawnSync('strace', ['-V'], { stdio: 'ignore' }).status === 0;

/**
 * How many system calls the processes make while `work` runs. Undefined without `strace`, or without the right to trace. Tracing
 * slows the processes down many times: never measure time meanwhile.
 */
export async function systemCalls(pids: Pids, work: () => Promise<unknown>): Promise<number | undefined> {
  if (!hasStrace) return undefined;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'earpiece-strace-'));
  const file = path.join(folder, 'calls');
  const strace = spawn('strace', ['-f', '-c', '-U', 'calls,name', '-o', file, ...pids.flatMap((pid) => ['-p', String(pid)])], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(strace, 'close');
  try {
    if (!(await attached(strace.stderr, pids.length))) return undefined;
    await work();
    strace.kill('SIGINT');
    await ended;
    return sumOf(fs.readFileSync(file, 'utf8'));
  } finally {
    strace.kill('SIGINT');
    await ended;
    fs.rmSync(folder, { recursive: true });
  }
}

/** A row of strace's table: one for each system call, and one for the total. */
function sumOf(table: string): number {
  let sum = 0;
  for (const [, calls, name] of table.matchAll(/^\s*(\d+)\s+(\w+)\s*$/gmu)) if (name !== 'total') sum += Number(calls);
  return sum;
}

/** strace reports each attached process in one line. Without the right to trace, it prints an error and ends. */
async function attached(said: NodeJS.ReadableStream, processes: number): Promise<boolean> {
  let text = '';
  for await (const chunk of said) {
    text += String(chunk);
    if (text.split(' attached').length > processes) {
      said.resume();
      return true;
    }
  }
  return false;
}
