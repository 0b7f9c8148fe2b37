/**
 * Writes and reads the state of a coding agent in an Earpiece terminal (`earpiece in`). The agent's hooks write the state to a
 * file whose path is in their environment. The terminal reads the file before it types.
 */
import { lstatSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { ConversationId, LogKey } from '../core/address.ts';
import type { Moment } from './moment.ts';

/** The environment variable with the path of the file. */
export const TERMINAL_VARIABLE = 'EARPIECE_TERMINAL';

const MAX_BYTES = 10_000;

/**
 * The state of the agent. `idle`: the agent's turn has ended, and the agent waits for its person. `at` is in milliseconds since
 * the epoch.
 */
export type TerminalState = {
  readonly state: 'idle' | 'busy' | 'over';
  readonly log: LogKey;
  readonly conversation: ConversationId;
  readonly at: number;
};

/**
 * Writes the state, and never throws: without the file, the terminal types nothing. An existing file is replaced only if it is
 * empty or contains such a state, because the path comes from the environment.
 */
export function noteState(
  path: string,
  moment: Moment,
  held: boolean,
  { log, id }: { readonly log: LogKey; readonly id: ConversationId },
): void {
  const state = stateAfter(moment, held);
  if (state === undefined) return;
  const known: TerminalState = { state, log, conversation: id, at: performance.timeOrigin + performance.now() };
  try {
    if (!mayReplace(path)) return;
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, JSON.stringify(known), { mode: 0o600 });
    renameSync(draft, path);
  } catch {
    // The terminal may have ended.
  }
}

function mayReplace(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return true;
  return found.isFile() && (found.size === 0 || (found.size < MAX_BYTES && stateIn(path)?.state !== undefined));
}

/** Reads the state from the file; undefined if the file is missing, empty or not JSON. */
export function stateIn(path: string): TerminalState | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as TerminalState;
  } catch {
    return undefined;
  }
}

function stateAfter(moment: Moment, held: boolean): TerminalState['state'] | undefined {
  if (moment.kind === 'session_start') return undefined;
  if (moment.kind === 'session_end') return 'over';
  return moment.kind === 'turn_end' && !held ? 'idle' : 'busy';
}
