// Measures the processor time and the system calls of an operation. Other work on the machine lengthens the time of an operation,
// but hardly changes these costs.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The ids of the processes of one side of a comparison, whose costs are added. */
export type Pids = readonly number[];

/**
 * Returns the processor time of all threads of the processes, in microseconds. Undefined without a process, or if the system
 * does not report this time.
 */
export function cpuUs(pids: Pids): number | undefined {
  if (pids.length === 0) return undefined;
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

/**
 * Returns the processor time of a process on Linux. Threads that have ended are not counted, but the threads of both sides keep
 * running.
 */
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
 * Counts the system calls of the processes while `work` runs. Returns undefined without a process, without `strace`, or
 * without the permission to trace. Tracing makes the processes many times slower, so no time is measured during this count.
 */
export async function systemCalls(pids: Pids, work: () => Promise<unknown>): Promise<number | undefined> {
  if (!hasStrace || pids.length === 0) return undefined;
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

/** Sums the rows of strace's table, which has one row for each system call and one for the total. */
function sumOf(table: string): number {
  let sum = 0;
  for (const [, calls, name] of table.matchAll(/^\s*(\d+)\s+(\w+)\s*$/gmu)) if (name !== 'total') sum += Number(calls);
  return sum;
}

/**
 * Waits until strace has attached to all processes, and has printed one line for each. Without the permission to trace, strace
 * prints an error and ends.
 */
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
