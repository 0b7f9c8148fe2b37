// What an operation costs beside its time: processor time, and calls into the system. Other work on the machine stretches the
// time of an operation, and these hardly.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The processes whose costs count for a side. */
export type Pids = readonly number[];

/** Processor time that the processes used, all threads together, in microseconds. Undefined where the system does not tell. */
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

/** A thread that has ended is missing here; the sides' processes keep theirs. */
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
 * How many system calls the processes make while `work` runs. Undefined without `strace`, or where it may not look. What is
 * looked at so is many times slower: never measure time in it.
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

/** strace says so in one line a process. Without the right to trace it prints an error and ends. */
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
