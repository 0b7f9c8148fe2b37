import { setTimeout as sleep } from 'node:timers/promises';

/**
 * How long a group may run after SIGTERM. Together with `EOF_GRACE_MS` before SIGTERM, the group gets less than the 2 s that MCP
 * clients allow.
 */
const TERM_GRACE_MS = 1_500;

/** Ends a process group. Waits `graceMs` for the group to end by itself, then sends SIGTERM, and later SIGKILL. */
export async function endGroup(pid: number, graceMs: number): Promise<void> {
  if (await groupEnds(pid, graceMs)) return;
  signalGroup(pid, 'SIGTERM');
  if (await groupEnds(pid, TERM_GRACE_MS)) return;
  signalGroup(pid, 'SIGKILL');
  await groupEnds(pid, 500);
}

async function groupEnds(pid: number, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (signalGroup(pid, 0)) {
    if (performance.now() >= deadline) return false;
    await sleep(10);
  }
  return true;
}

/** Sends a signal to a group. Returns false if no process of the group runs. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
