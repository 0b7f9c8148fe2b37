/**
 * `earpiece statusline`: prints the number of open notifications of a coding agent's session, as a part of its status line. The
 * agent runs this command often, so it loads as little as a hook call without an answer.
 */
import type { Env } from '../config/places.ts';
import type { LEVELS } from '../core/notification.ts';
import { systemProcesses } from '../inbox/presence/processes.ts';
import { conversationOfSession } from '../inbox/presence/session-id.ts';
import { openLevels } from '../stores/sqlite/glance.ts';
import { databaseOf, hosts } from './hook-glance.ts';
import { inputAtOnce } from './hook-input.ts';

/** A copy that the compiler compares, because an import would load another module at each call. */
const NAMES: typeof LEVELS = ['info', 'warning', 'error', 'critical'];

/**
 * Returns the line about open notifications for the status line of Claude Code. The line is empty if nothing is open and no
 * interrupt keeps a gate up, or if the database cannot be read. Never throws, because a status line shows no errors.
 */
export function statusLine(words: readonly string[], env: Env): string {
  try {
    const { session_id: session, cwd } = inputAtOnce() ?? {};
    if (typeof session !== 'string' || typeof cwd !== 'string') return '';
    const option = words.indexOf('--db');
    const path = databaseOf(option < 0 ? env['EARPIECE_DB'] : words[option + 1], env, cwd);
    if (path === undefined) return '';
    const processes = hosts(env).map(({ pid, startedAt }) => ({ machine: systemProcesses.machine, pid, startedAt }));
    const open = openLevels({ path, processes, conversation: conversationOfSession(session) });
    return open === undefined ? '' : lineOf(open.counts, open.gates);
  } catch {
    return '';
  }
}

/** Formats a line such as `earpiece: 3 open (1 error), stopped`. `gates`: the number of interrupts and pauses that stop tools. */
export function lineOf(counts: readonly number[], gates: number): string {
  const all = counts.reduce((sum, count) => sum + count, 0);
  const high = counts.findLastIndex((count) => count > 0);
  const worst = high > 0 ? ` (${counts[high]} ${NAMES[high]})` : '';
  const parts = [...(all > 0 ? [`${all} open${worst}`] : []), ...(gates > 0 ? ['stopped'] : [])];
  return parts.length === 0 ? '' : `earpiece: ${parts.join(', ')}\n`;
}
