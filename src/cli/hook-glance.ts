/**
 * The short way of `earpiece hook`: an agent starts one before each tool call, and nearly always nothing waits. It loads a tenth
 * of the program, asks the database one question, and ends. Wherever it is not certain, the long way answers.
 */
import { isAbsolute, join } from 'node:path';
import { projectPlace, stateFolder, userConfigFile, type Env } from '../config/places.ts';
import { ancestors, systemProcesses, type Process } from '../inbox/presence/processes.ts';
import { conversationOfSession } from '../inbox/presence/session-id.ts';
import { leaveMark, settledSince, type Mark } from '../hosts/quiet-mark.ts';
import { glance } from '../stores/sqlite/glance.ts';
import { inputAtOnce, type HookInput } from './hook-input.ts';

/** Asked for, not imported: an import brings streams and promises with it, for which each hook call would pay. */
const { lstatSync, readFileSync } = process.getBuiltinModule('node:fs');

/** Events that change nothing where nothing waits, by the names of all hosts. */
const PASSING: ReadonlySet<string> = new Set(
  'PreToolUse PostToolBatch PostToolUse Stop BeforeTool AfterTool AfterAgent'.split(' '),
);
/** Of these, the ones that only an interrupt is for. */
const BEFORE: ReadonlySet<string> = new Set(['PreToolUse', 'BeforeTool']);
/** As often as a conversation's sign of life is written. */
const SEEN_WITHIN_MS = 30_000;
/** As `waitingKey` of the talk room writes it, before the log. */
const WAITING = 'waiting for ';
/** Hosts whose transcripts are looked at for what they were given, at the first calls after it. */
export const WITH_TRANSCRIPT: ReadonlySet<string> = new Set(['claude', 'codex', 'qwen']);
const LOOKED_FOR_MS = 60_000;
/** Hosts whose hook before a tool ends in its shell where a mark says so, and the variables that name their sessions. */
export const WITH_MARK: Readonly<Record<string, string>> = {
  claude: 'CLAUDE_CODE_SESSION_ID',
  qwen: 'QWEN_CODE_SESSION_ID',
  gemini: 'GEMINI_SESSION_ID',
};
const MAX_CONFIG_BYTES = 64 * 1024;

/** True: this call of `earpiece hook <host>` has nothing to say. False says nothing. Must not throw. */
export function hasNothingToSay(words: readonly string[], env: Env): boolean {
  try {
    // `earpiece in` needs every moment.
    if (env['EARPIECE_TERMINAL']) return false;
    const [host, option, db, ...others] = words;
    if (host === undefined || host.startsWith('-') || others.length > 0) return false;
    if (option !== undefined && (option !== '--db' || db === undefined)) return false;
    const input = inputAtOnce();
    const { hook_event_name: event, session_id: session, cwd } = input ?? {};
    if (typeof event !== 'string' || typeof session !== 'string' || typeof cwd !== 'string' || !passes(host, event, input))
      return false;
    const path = databaseOf(db ?? env['EARPIECE_DB'], env, cwd);
    if (path === undefined) return false;
    const now = Date.now();
    const variable = WITH_MARK[host];
    const since = variable !== undefined && env[variable] === session ? settledSince(path, now) : undefined;
    const seen = glance({
      path,
      processes: hosts(env).map(({ pid, startedAt }) => ({ machine: systemProcesses.machine, pid, startedAt })),
      conversation: conversationOfSession(session),
      setting: WAITING,
      now,
      seenWithinMs: SEEN_WITHIN_MS,
      unprovenSince: WITH_TRANSCRIPT.has(host) ? now - LOOKED_FOR_MS : now,
    });
    const marks: readonly Mark[] = seen === undefined ? [] : seen === 'quiet' ? ['quiet', 'free'] : ['free'];
    try {
      if (since !== undefined) for (const mark of marks) leaveMark(mark, stateFolder({ env }), session, path, since);
    } catch {
      // The next call asks the database again.
    }
    return seen === 'quiet' || (seen === 'free' && BEFORE.has(event));
  } catch {
    return false;
  }
}

/** Qwen Code runs the hook of the prompt also before each request that takes results; there is no prompt of a person then. */
const passes = (host: string, event: string, input: HookInput | undefined): boolean =>
  PASSING.has(event) || (host === 'qwen' && event === 'UserPromptSubmit' && input?.['submitted_prompt'] === undefined);

/** Claude Code names its process to its hooks. */
export function hosts(env: Env): readonly Process[] {
  const named = Number(env['CLAUDE_PID']);
  const found = Number.isInteger(named) && named > 1 ? systemProcesses.get(named) : undefined;
  return found === undefined ? ancestors() : [found];
}

/** Undefined: only the configuration can say. */
export function databaseOf(given: string | undefined, env: Env, cwd: string): string | undefined {
  if (given) return isAbsolute(given) ? given : undefined;
  const files = [...projectPlace(cwd).candidates, userConfigFile({ env })];
  return files.some(mayNameDatabase) ? undefined : join(stateFolder({ env }), 'earpiece.db');
}

function mayNameDatabase(file: string): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return false;
  return !found.isFile() || found.size > MAX_CONFIG_BYTES || /\bdb\b/.test(readFileSync(file, 'utf8'));
}
