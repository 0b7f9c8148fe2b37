/**
 * Finds out whether the agent in Claude Code works, so that Earpiece's waiting process (`earpiece hook claude --wait`) wakes only
 * an idle agent. Each waiting process starts when the agent is idle: at the start of a session and at the end of a turn. Each
 * later hook in a turn writes the time into a file beside the waiting process's own file. Most hooks in a turn end in the shell
 * and write nothing, but the hook of a prompt always writes.
 *
 * Measured with 2.1.330. No hook reports a turn that a person stopped (Esc), a failed request, or a prompt that another program's
 * hook blocked. No hook of Earpiece runs when a hook of another program prevents the end of a turn. The transcript shows these
 * events at once, except Esc before the first token of an answer. Claude Code's own file about its process shows `busy`,
 * `waiting` (for a permission) or `idle`, and the time of the last change. Earpiece uses this file only as a proof that work has
 * ended, because Claude Code does not document the file.
 */
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tailOf, type Entry } from '../transcript.ts';

/**
 * How long the transcript may stay unchanged during work without a tool call. After this time, the work counts as over, because a
 * needless wake is better than an agent that is never woken.
 */
const OVER_AFTER_MS = 5 * 60_000;

type Host = { readonly pid: number; readonly startedAt: string };

/** Returns the folder with one file for each waiting process. */
export const waitersIn = (state: string): string => join(state, 'waiters');

/** Returns the path of the file that names the waiting process of a host. The file's name begins with the host's process id. */
export const waiterFile = (state: string, { pid, startedAt }: Host): string =>
  join(waitersIn(state), `${pid}-${startedAt.replaceAll(/\W/g, '-')}`);

const workFile = (state: string, host: Host): string => `${waiterFile(state, host)}.work`;

/**
 * Records that the agent works now. `beganAt`: the latest possible start of this work, in epoch ms. A slow hook may record the
 * work after the work has ended. Never throws: without the folder, no process waits.
 */
export function noteWork(state: string, host: Host, beganAt: number): void {
  const file = workFile(state, host);
  const draft = `${file}.${process.pid}`;
  try {
    writeFileSync(draft, `${Date.now()} ${beganAt}`, { mode: 0o600 });
    renameSync(draft, file);
  } catch {
    // Usually no process waits, so the folder is missing. After any other failure, only the transcript shows whether the agent
    // works.
  }
}

/** Whether the agent is idle. `since`: when the waiting process began, epoch ms. */
export function isIdle(state: string, host: Host, { since, transcript }: { since: number; transcript: unknown }): boolean {
  const turn = typeof transcript === 'string' ? turnIn(transcript) : undefined;
  const { notedAt, beganAt } = workIn(state, host);
  if (notedAt <= since) return turn?.state !== 'works' || turn.at < since;
  if (turn?.state === 'stopped' && turn.at > beganAt) return true;
  if (idleTime(host, transcript) > beganAt) return true;
  return turn?.state !== 'works' && Date.now() - Math.max(notedAt, changeTime(transcript)) > OVER_AFTER_MS;
}

/** Returns the time at which Claude Code's own file changed to `idle`, epoch ms; 0 if the file does not show `idle`. */
function idleTime({ pid }: Host, transcript: unknown): number {
  if (typeof transcript !== 'string') return 0;
  try {
    const file = join(transcript, '../../../sessions', `${pid}.json`);
    const { status, statusUpdatedAt } = JSON.parse(tailOf(file) ?? '') as Entry;
    return status === 'idle' ? Number(statusUpdatedAt) || 0 : 0;
  } catch {
    // This version of Claude Code writes no such file, or writes another format.
    return 0;
  }
}

/** Returns the time of the last change of the transcript, epoch ms; 0 without a transcript. */
function changeTime(transcript: unknown): number {
  try {
    return typeof transcript === 'string' ? statSync(transcript).mtimeMs : 0;
  } catch {
    return 0;
  }
}

function workIn(state: string, host: Host): { readonly notedAt: number; readonly beganAt: number } {
  try {
    const [notedAt = 0, beganAt = notedAt] = readFileSync(workFile(state, host), 'utf8').split(' ').map(Number);
    return { notedAt, beganAt };
  } catch {
    return { notedAt: 0, beganAt: 0 };
  }
}

type Turn = { readonly at: number; readonly state: 'works' | 'stopped' | 'unknown' };

/** Returns the state at the last message or blocked prompt of the transcript; undefined if the file shows neither. */
function turnIn(file: string): Turn | undefined {
  for (const line of (tailOf(file) ?? '').split('\n').toReversed()) {
    if (!/"type":"(user|assistant)"|operation blocked by hook/.test(line)) continue;
    const entry = parsed(line);
    if (entry === undefined || entry['isSidechain'] === true) continue;
    if (entry['type'] !== 'user' && entry['type'] !== 'assistant' && !isBlocked(entry)) continue;
    return { at: Date.parse(String(entry['timestamp'])), state: stateIn(entry) };
  }
  return undefined;
}

/** Whether a hook has blocked the prompt, so that no turn began. */
const isBlocked = ({ type, content }: Entry): boolean =>
  type === 'system' && String(content).startsWith('UserPromptSubmit operation blocked by hook');

function stateIn(entry: Entry): Turn['state'] {
  if (isBlocked(entry)) return 'stopped';
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
