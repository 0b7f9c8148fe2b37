/** Reads processes from the operating system: the ancestors of this process, and whether the owner of a lease still lives. */
import type { ExecFileSyncOptionsWithStringEncoding } from 'node:child_process';
import { hostname } from 'node:os';
import { basename } from 'node:path';
import type { Owner } from '../../core/records.ts';

/** `node:fs` is not imported, because the import also loads streams and promises, which slows down each hook call. */
const { readFileSync, readlinkSync } = process.getBuiltinModule('node:fs');

/**
 * Runs a program. Only this function loads `node:child_process`, because that module loads much of Node's network code, which
 * slows down each hook call.
 */
const run = (file: string, args: string[], options: ExecFileSyncOptionsWithStringEncoding): string =>
  process.getBuiltinModule('node:child_process').execFileSync(file, args, options);

export type Process = {
  readonly pid: number;
  readonly parent: number;
  readonly startedAt: string;
  readonly name: string;
  readonly args: readonly string[];
};

export interface Processes {
  /**
   * The host name, and in a container or a sandbox also the PID namespace, because process ids are valid only inside one
   * namespace.
   */
  readonly machine: string;
  /** Reads a process. Undefined if the process does not exist. */
  get(pid: number): Process | undefined;
}

/** The first PID namespace of a Linux system, which has the same number on every system. */
const FIRST_NAMESPACE = 'pid:[4026531836]';

export const systemProcesses: Processes = {
  machine: machineOf(hostname(), '/proc/self/ns/pid'),
  get: process.platform === 'linux' ? fromProc : fromPs,
};

/** Names a machine. `link`: the file that links to the PID namespace, on systems that have one. */
export function machineOf(host: string, link: string): string {
  try {
    const namespace = readlinkSync(link);
    return namespace === FIRST_NAMESPACE ? host : `${host} ${namespace}`;
  } catch {
    return host;
  }
}

/** Returns the host name of a machine, which all of its PID namespaces share. */
export const hostOf = (machine: string): string => machine.split(' ', 1)[0] ?? machine;

export function selfOwner(processes: Processes = systemProcesses): Owner {
  const self = processes.get(process.pid);
  return { machine: processes.machine, pid: process.pid, startedAt: self?.startedAt ?? 'unknown' };
}

/**
 * Whether the owner's process lives. Undefined for a process on another machine or in another PID namespace, which cannot be
 * checked here.
 */
export function isAlive(owner: Owner, processes: Processes = systemProcesses): boolean | undefined {
  if (owner.machine !== processes.machine) return undefined;
  const found = processes.get(owner.pid);
  if (found === undefined) return false;
  return owner.startedAt === 'unknown' || found.startedAt === 'unknown' || found.startedAt === owner.startedAt;
}

/**
 * Returns the operating system's time, epoch ms, independent of this process's clock. Undefined if the system does not show this
 * time.
 */
export function systemTime(): number | undefined {
  try {
    const booted = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1];
    const up = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]);
    return booted === undefined || !Number.isFinite(up) ? undefined : (Number(booted) + up) * 1_000;
  } catch {
    return fromDate();
  }
}

/** Returns when a process started, epoch ms, exact to about a second. Undefined if the system does not show this time. */
export function systemStart({ startedAt }: Pick<Process, 'startedAt'>): number | undefined {
  const known = process.platform === 'linux' ? fromTicks(Number(startedAt)) : Date.parse(startedAt);
  return known === undefined || Number.isNaN(known) ? undefined : known;
}

/** The unit of start times in /proc, in ms. */
const TICK_MS = 10;

function fromTicks(ticks: number): number | undefined {
  try {
    const booted = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1];
    return booted === undefined ? undefined : Number(booted) * 1_000 + ticks * TICK_MS;
  } catch {
    return undefined;
  }
}

function fromDate(): number | undefined {
  try {
    const printed = run('date', ['+%s'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const seconds = Number(printed.trim());
    return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the ancestors of a process, from the parent upward. The limit of 10,000 ends a search in a tree of processes that
 * changes during the search. The limit is high, because a command must find its agent even below many shells.
 */
export function ancestors(processes: Processes = systemProcesses, from: number = process.pid): Process[] {
  const line: Process[] = [];
  let pid = processes.get(from)?.parent ?? process.ppid;
  while (pid > 1 && line.length < 10_000) {
    const found = processes.get(pid);
    if (found === undefined) break;
    line.push(found);
    pid = found.parent;
  }
  return line;
}

function fromProc(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name is in parentheses and may contain spaces and parentheses itself.
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
    return {
      pid,
      parent: Number(fields[1]),
      startedAt: fields[19] ?? 'unknown',
      name: stat.slice(stat.indexOf('(') + 1, end),
      args,
    };
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): Process | undefined {
  try {
    const line = run('ps', ['-o', 'ppid=,lstart=,command=', '-p', String(pid)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    const found = /^(\d+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/s.exec(line);
    if (!found) return undefined;
    const args = (found[3] ?? '').split(/\s+/);
    return {
      pid,
      parent: Number(found[1]),
      startedAt: (found[2] ?? '').replaceAll(/\s+/g, ' '),
      name: basename(args[0] ?? ''),
      args,
    };
  } catch {
    return undefined;
  }
}
