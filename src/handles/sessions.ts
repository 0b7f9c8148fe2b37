/**
 * Finds and ends the sessions of processes. The process of each handle leads a separate session (`setsid`). The descendants of
 * the process can therefore be found and ended, including the process groups of a shell's jobs.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { HANDLE_VARIABLE } from '../inbox/index.ts';

export type Member = { readonly pid: number; readonly group: number };

/**
 * The environment variable that marks a handle's processes. The variable distinguishes these processes from other processes with
 * a reused process id.
 */
export const MARK = HANDLE_VARIABLE;

/** How long a session may take to end after SIGTERM. */
export const GRACE_MS = 2_000;
const KILLED_MS = 1_000;

/** Returns the living processes of a session, without zombies. Outside of Linux, returns only the leader's process group. */
export function membersOf(session: number): readonly Member[] {
  return process.platform === 'linux' ? fromProc(session) : fromPs(session);
}

/** Ends a session: sends SIGTERM, and after `graceMs` SIGKILL to the remaining processes. Resolves to true if all have ended. */
export async function endSession(session: number, graceMs: number = GRACE_MS): Promise<boolean> {
  if (await signalUntilGone(session, 'SIGTERM', graceMs)) return true;
  return signalUntilGone(session, 'SIGKILL', KILLED_MS);
}

/** Reads the mark in the environment of a process. Undefined if the process has no mark, or if its environment cannot be read. */
export function markOfProcess(pid: number): string | undefined {
  try {
    const found = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .find((entry) => entry.startsWith(`${MARK}=`));
    return found?.slice(MARK.length + 1);
  } catch {
    return undefined;
  }
}

/** Sessions that get SIGTERM if they still run when this process exits. */
const guarded = new Set<number>();

/** Sends SIGTERM to a session when this process exits. The returned function cancels this. */
export function endAtExit(session: number): () => void {
  if (guarded.size === 0) process.on('exit', endGuarded);
  guarded.add(session);
  return () => {
    guarded.delete(session);
    if (guarded.size === 0) process.off('exit', endGuarded);
  };
}

function endGuarded(): void {
  for (const session of guarded) for (const { group } of membersOf(session)) send(-group, 'SIGTERM');
}

async function signalUntilGone(session: number, signal: NodeJS.Signals, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  const signalled = new Set<number>();
  for (let wait = 2; ; wait = Math.min(wait * 2, 50)) {
    const members = membersOf(session);
    if (members.length === 0) return true;
    for (const { group } of members) {
      // A group gets SIGTERM once. The next round finds new processes.
      if (signal === 'SIGTERM' && signalled.has(group)) continue;
      signalled.add(group);
      send(-group, signal);
      // A suspended process handles SIGTERM only after SIGCONT.
      if (signal === 'SIGTERM') send(-group, 'SIGCONT');
    }
    if (performance.now() >= deadline) return membersOf(session).length === 0;
    await sleep(wait);
  }
}

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has usually ended.
  }
}

function fromProc(session: number): readonly Member[] {
  const members: Member[] = [];
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry);
    if (!Number.isInteger(pid)) continue;
    let stat: string;
    try {
      stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
    } catch {
      continue;
    }
    // The name is in parentheses and may itself contain spaces and parentheses. State, parent, group and session follow the name.
    const [state, , group, ofSession] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 4);
    if (Number(ofSession) === session && state !== 'Z' && state !== 'X') members.push({ pid, group: Number(group) });
  }
  return members;
}

function fromPs(session: number): readonly Member[] {
  const listed = execFileSync('ps', ['-axo', 'pid=,pgid=,sess=,stat='], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return listed.split('\n').flatMap((line) => {
    const [pid, group, , state] = line.trim().split(/\s+/u);
    // macOS does not show the session, so only the process group can be found.
    return Number(group) === session && state !== undefined && !state.startsWith('Z')
      ? [{ pid: Number(pid), group: Number(group) }]
      : [];
  });
}
