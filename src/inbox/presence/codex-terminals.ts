/**
 * Finds the terminal in which a session of Codex is open. Measured with 0.169: the first `codex` in a terminal starts a server
 * that all terminals share (`codex app-server --managed-daemon`). The hooks and the MCP servers of every session run below that
 * server, which outlives the terminals. A terminal opens no file of its session, so only the folder and the start times show
 * which terminal has the session.
 */
import { realpathSync } from 'node:fs';
import { workingFolder } from './own-agent.ts';
import { systemProcesses, systemStart, type Process } from './processes.ts';

const { readdirSync } = process.getBuiltinModule('node:fs');

export type Terminal = Process & {
  readonly folder: string | undefined;
  /** When the terminal started, epoch ms. */
  readonly since: number;
};

export type Shown = {
  /** The folder of the session. */
  readonly folder: string;
  /** When the session or the process that asks began, epoch ms. */
  readonly beganAt: number;
};

/** Matches the commands of Codex that show no session of the shared server. */
const ELSEWHERE =
  /^(exec|e|review|login|logout|mcp|mcp-server|plugin|app-server|remote-control|completion|update|doctor|sandbox|debug|apply|a|queue|archive|unarchive|delete|cloud|exec-server|features)$/;
/** Matches the options of Codex that a value follows as a separate word. */
const WITH_VALUE =
  /^(-[acimpsC]|--(config|model|profile|image|sandbox|ask-for-approval|cd|add-dir|enable|disable|local-provider))$/;

/** Matches the commands of Codex that show an older session. */
const RESUMES = /^(resume|fork)$/;

/** The maximum error of a process's start time, in ms. */
const INEXACT_MS = 2_000;
/**
 * If several terminals are open, and exactly one of them started at most this time before the session, the session belongs to
 * that terminal. Measured: if Codex asks no question first, the first session begins about 3 s after its terminal. With a longer
 * time, more sessions that `/new` begins in another terminal would be taken for such a first session.
 */
const FIRST_SESSION_MS = 5_000;

export const isSharedServer = ({ args }: Process): boolean => args.includes('app-server') && args.includes('--managed-daemon');

/** Returns the time of a session's start, which Codex writes into the session's id (UUID version 7). */
export function beginOfSession(session: string): number | undefined {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/i.exec(session) ?? [];
  return high === undefined || low === undefined ? undefined : Number.parseInt(high + low, 16);
}

export type Candidates = {
  /** The terminals that may show the session. */
  readonly among: readonly Terminal[];
  /** The terminal that probably shows the session. Missing if Earpiece does not know the terminal. */
  readonly likely?: Terminal;
  /** The terminals among these that were started, after the session began, to show an older session. */
  readonly resuming: readonly Terminal[];
};

export function candidatesFor({ folder, beganAt }: Shown, terminals: readonly Terminal[] = codexTerminals()): Candidates {
  const here = terminalsIn(folder, terminals);
  if (here.length === 0) return { among: [], resuming: [] };
  const isBefore = ({ since }: Terminal): boolean => since <= beganAt + INEXACT_MS;
  // In any folder, `codex resume` may show a session that is older than the terminal.
  const resuming = terminals.filter((each) => each.args.some((word) => RESUMES.test(word)) && !isBefore(each));
  const among = [...new Set([...here, ...resuming])];
  const [only, ...others] = here.filter((each) => isBefore(each) && beganAt - each.since <= FIRST_SESSION_MS);
  const likely = among.length === 1 ? among[0] : resuming.length > 0 || others.length > 0 ? undefined : only;
  return { among, resuming, ...(likely === undefined ? {} : { likely }) };
}

/** Returns the terminals of Codex whose sessions work in the folder. */
export function terminalsIn(folder: string, terminals: readonly Terminal[] = codexTerminals()): readonly Terminal[] {
  const real = realOf(folder);
  return terminals.filter((each) => each.folder === real || each.args.includes(folder));
}

/** Whether Codex, with these words of its command line, shows a session of the shared server. Later words may be a prompt. */
export function showsSession(args: readonly string[]): boolean {
  for (let at = 1; at < args.length; at++) {
    const word = args[at] ?? '';
    if (word === '--no-daemon' || word.startsWith('--remote')) return false;
    if (WITH_VALUE.test(word)) at++;
    else if (!word.startsWith('-')) return !ELSEWHERE.test(word);
  }
  return true;
}

/** How long a list of terminals is cached, in ms. Most calls of a gateway need the list, and reading all processes is slow. */
const LISTED_MS = 2_000;
let listed: { readonly at: number; readonly terminals: readonly Terminal[] } | undefined;

function codexTerminals(): readonly Terminal[] {
  const now = performance.now();
  if (listed === undefined || now - listed.at > LISTED_MS) listed = { at: now, terminals: listTerminals() };
  return listed.terminals;
}

function listTerminals(): readonly Terminal[] {
  return pids().flatMap((pid) => {
    const found = systemProcesses.get(pid);
    if (found === undefined || !/^codex(-.*)?$/.test(found.name) || !showsSession(found.args)) return [];
    const since = systemStart(found);
    return since === undefined ? [] : [{ ...found, since, folder: workingFolder(pid) }];
  });
}

function pids(): readonly number[] {
  if (process.platform === 'linux') return readdirSync('/proc').map(Number).filter(Number.isInteger);
  try {
    const { execFileSync } = process.getBuiltinModule('node:child_process');
    const listed = execFileSync('ps', ['-Ao', 'pid=,comm='], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return listed.split('\n').flatMap((line) => {
      const [, pid, name] = /^\s*(\d+)\s+(?:.*\/)?(codex\S*)\s*$/.exec(line) ?? [];
      return pid === undefined || name === undefined ? [] : Number(pid);
    });
  } catch {
    return [];
  }
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}
