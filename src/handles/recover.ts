/** Recovers the handles of an agent that died. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { Owner } from '../core/records.ts';
import { isAlive, systemProcesses } from '../inbox/index.ts';
import type { Ledger, LedgerEntry } from './ledger.ts';
import { lostNotice, type Notice } from './notices.ts';
import { endSession, markOfProcess, membersOf } from './sessions.ts';

/** A lost handle. `ended`: Earpiece found the handle's process running and ended it. */
export type Recovered = { readonly uid: string; readonly id: string; readonly tool: string; readonly ended: boolean };

export type RecoverDeps = {
  readonly ledger: Ledger;
  readonly folder: string;
  /** Whether the handle belongs to the current run. */
  readonly own: (uid: string) => boolean;
  readonly owner: Owner;
  readonly now: number;
  readonly answered: (callId: string) => boolean;
  readonly tell: (notice: Notice) => Promise<void>;
  readonly trouble: (error: unknown) => void;
};

/**
 * How long outputs are kept after a crash. Outputs may contain secrets, so `recoverHandles` deletes outputs that are older than
 * a day.
 */
const KEEP_MS = 24 * 3_600_000;

/**
 * Ends the processes of the lost handles, and returns the background handles that were running. Call this function once. Queues
 * the notifications about these handles, and about handles that had ended without a notification.
 */
export async function recoverHandles(deps: RecoverDeps): Promise<readonly Recovered[]> {
  const lost: Recovered[] = [];
  for (const entry of deps.ledger.entries()) {
    if (deps.own(entry.uid) || isOfAnotherAgent(entry, deps.owner)) continue;
    const ended = await endLeftover(entry);
    const known = entry.toldIn !== undefined && deps.answered(entry.toldIn);
    const notice = entry.notice ?? (entry.background ? lostNotice(entry, ended) : undefined);
    try {
      // The notice's id prevents a duplicate if the notice was queued before the crash.
      if (notice !== undefined && !known) await deps.tell(notice);
    } catch (error) {
      // The notice could not be queued, so the entry stays in the ledger for the next run.
      deps.trouble(error);
      continue;
    }
    deps.ledger.remove(entry.uid);
    if (entry.notice === undefined && entry.background) lost.push({ uid: entry.uid, id: entry.id, tool: entry.tool, ended });
  }
  sweep(deps);
  return lost;
}

/** Identifies a process by number and start time, because another process may get the same number later. */
export const ownedProcess = (pid: number): { pid: number; startedAt: string } => ({
  pid,
  startedAt: systemProcesses.get(pid)?.startedAt ?? 'unknown',
});

const isOfAnotherAgent = (entry: LedgerEntry, self: Owner): boolean => {
  const { owner } = entry;
  const mine = owner.machine === self.machine && owner.pid === self.pid && owner.startedAt === self.startedAt;
  // Earpiece cannot check a process on another machine, so the process is not ended.
  return !mine && isAlive(owner) !== false;
};

/**
 * Ends the session of a handle's process. The process is identified by its start time. If the process has exited, the session is
 * identified by the mark of its other processes. Returns false if no process of the session runs or can be identified.
 */
async function endLeftover({ uid, process: owned }: LedgerEntry): Promise<boolean> {
  if (owned === undefined) return false;
  const leader = systemProcesses.get(owned.pid);
  const members = membersOf(owned.pid);
  const isLeader = leader !== undefined && owned.startedAt !== 'unknown' && leader.startedAt === owned.startedAt;
  const isMarked = members.some(({ pid }) => markOfProcess(pid) === uid);
  if (members.length === 0 || !(isLeader || isMarked)) return false;
  await endSession(owned.pid);
  return true;
}

function sweep({ folder, ledger, now, own }: RecoverDeps): void {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return;
  }
  for (const name of names.filter((candidate) => candidate.startsWith('h_'))) {
    if (own(name) || ledger.get(name) !== undefined) continue;
    const path = join(folder, name);
    if (now - statSync(path).mtimeMs > KEEP_MS) rmSync(path, { recursive: true, force: true });
  }
}
