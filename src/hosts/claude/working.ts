/**
 * Finds out whether Claude Code works, so that its waiting process wakes only an idle agent. Each waiting process starts when the
 * agent is idle: at the start of a session and at the end of a turn. Each later hook in a turn writes the time into a file beside
 * the waiting process's own file. Most hooks in a turn end in the shell and write nothing, but the hook of a prompt always writes.
 *
 * Measured with 2.1.330: no hook reports that a person has stopped a turn (Esc) or that a request has failed, and no hook of
 * Earpiece runs when a hook of another program holds the turn. The transcript shows these states at once.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tailOf, type Entry } from '../transcript.ts';

type Host = { readonly pid: number; readonly startedAt: string };

/** Returns the folder with one file for each waiting process. */
export const waitersIn = (state: string): string => join(state, 'waiters');

/** Returns the path of the file that names the waiting process of a host. The name begins with the id of the host's process. */
export const waiterFile = (state: string, { pid, startedAt }: Host): string =>
  join(waitersIn(state), `${pid}-${startedAt.replaceAll(/\W/g, '-')}`);

const workFile = (state: string, host: Host): string => `${waiterFile(state, host)}.work`;

/** Records that the agent works now. Never throws: without the folder, no process waits. */
export function noteWork(state: string, host: Host): void {
  const file = workFile(state, host);
  const draft = `${file}.${process.pid}`;
  try {
    writeFileSync(draft, String(Date.now()), { mode: 0o600 });
    renameSync(draft, file);
  } catch {
    // No process waits. Otherwise the transcript alone shows whether the agent works.
  }
}

/** Whether the agent is still idle in a process that has waited since this time, epoch ms. */
export function isIdle(state: string, host: Host, { since, transcript }: { since: number; transcript: unknown }): boolean {
  const turn = typeof transcript === 'string' ? turnIn(transcript) : undefined;
  const workedAt = workTime(state, host);
  if (workedAt > since) return turn?.state === 'stopped' && turn.at > workedAt;
  return turn?.state !== 'works' || turn.at < since;
}

function workTime(state: string, host: Host): number {
  try {
    return Number(readFileSync(workFile(state, host), 'utf8')) || 0;
  } catch {
    return 0;
  }
}

type Turn = { readonly at: number; readonly state: 'works' | 'stopped' | 'unknown' };

/** Returns the state at the last message of the transcript; undefined if the file shows no message. */
function turnIn(file: string): Turn | undefined {
  for (const line of (tailOf(file) ?? '').split('\n').toReversed()) {
    if (!/"type":"(user|assistant)"/.test(line)) continue;
    const entry = parsed(line);
    if ((entry?.['type'] !== 'user' && entry?.['type'] !== 'assistant') || entry['isSidechain'] === true) continue;
    return { at: Date.parse(String(entry['timestamp'])), state: stateIn(entry) };
  }
  return undefined;
}

function stateIn(entry: Entry): Turn['state'] {
  const { content } = (entry['message'] ?? {}) as Entry;
  const parts = Array.isArray(content) ? (content as readonly Entry[]) : [{ type: 'text', text: content }];
  if (entry['isApiErrorMessage'] === true) return 'stopped';
  if (parts.some(({ type }) => type === 'tool_use' || type === 'tool_result')) return 'works';
  const isFirst = (start: string): boolean => parts.some(({ text }) => String(text).startsWith(start));
  if (entry['type'] === 'user' && isFirst('[Request interrupted by user')) return 'stopped';
  return entry['type'] === 'user' && isFirst('Stop hook feedback') ? 'works' : 'unknown';
}

function parsed(line: string): Entry | undefined {
  try {
    return JSON.parse(line) as Entry;
  } catch {
    // The line is incomplete, because the tail begins within it or the host is still writing it.
    return undefined;
  }
}
