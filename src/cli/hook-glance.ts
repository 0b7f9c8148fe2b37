/**
 * Ends a call of `earpiece hook` early in the usual case: an agent starts a hook before each tool call, and almost always no
 * notification waits. This fast path loads a tenth of the program, asks the database one question, and ends. If the answer is not
 * certain, the slow path runs.
 */
import { isAbsolute, join } from 'node:path';
import { projectPlace, stateFolder, userConfigFile, type Env } from '../config/places.ts';
import { ancestors, systemProcesses, type Process } from '../inbox/presence/processes.ts';
import { conversationOfSession } from '../inbox/presence/session-id.ts';
import { leaveMark, serverLives, settledSince, type Mark } from '../hosts/quiet-mark.ts';
import { glance } from '../stores/sqlite/glance.ts';
import { inputAtOnce, mayHavePushed, type HookInput } from './hook-input.ts';

/**
 * These functions are taken from `process`, because an import would also load streams and promises, which slows each hook call.
 */
const { lstatSync, readFileSync } = process.getBuiltinModule('node:fs');

/** The hosts' names of events that need no answer while no notification waits. */
const PASSING: ReadonlySet<string> = new Set(
  'PreToolUse PostToolBatch PostToolUse Stop BeforeTool AfterTool AfterAgent PreCompress'.split(' '),
);
/**
 * Events before a tool call or a request to the model. Gemini CLI fires `PreCompress` before each request. These events need an
 * answer only while an interrupt keeps a gate up, or while the hook carries notifications in place of the MCP server.
 */
const BEFORE: ReadonlySet<string> = new Set(['PreToolUse', 'BeforeTool', 'PreCompress']);
/** How long a conversation's stored last contact stays valid, in ms. Afterwards, a hook must store a new contact. */
const SEEN_WITHIN_MS = 30_000;
/** The prefix of the setting that `waitingKey` in `talk` names. */
const WAITING = 'waiting for ';
/** Hosts whose transcripts must be checked for deliveries, at the first calls after a delivery. */
export const WITH_TRANSCRIPT: ReadonlySet<string> = new Set(['claude', 'codex', 'qwen']);
const LOOKED_FOR_MS = 60_000;
/**
 * Hosts with hooks that end in the shell, without starting Node, if a valid quiet mark (`hosts/quiet-mark.ts`) exists. The value
 * is the environment variable that holds the session's id.
 */
export const WITH_MARK: Readonly<Record<string, string>> = {
  claude: 'CLAUDE_CODE_SESSION_ID',
  qwen: 'QWEN_CODE_SESSION_ID',
  gemini: 'GEMINI_SESSION_ID',
};
const MAX_CONFIG_BYTES = 64 * 1024;

/** Returns true if this call of `earpiece hook <host>` certainly has no answer, and false if that is unknown. Must not throw. */
export function hasNothingToSay(words: readonly string[], env: Env): boolean {
  try {
    // `earpiece in` must see every event, so each event takes the slow path.
    if (env['EARPIECE_TERMINAL']) return false;
    const [host, ...options] = words;
    if (host === undefined || host.startsWith('-')) return false;
    const served = options[0] === '--served';
    const [option, db, ...others] = served ? options.slice(1) : options;
    if (others.length > 0) return false;
    if (option !== undefined && (option !== '--db' || db === undefined)) return false;
    const input = inputAtOnce();
    const { hook_event_name: event, session_id: session, cwd } = input ?? {};
    if (typeof event !== 'string' || typeof session !== 'string' || typeof cwd !== 'string') return false;
    const before = BEFORE.has(event) || (host === 'qwen' && event === 'UserPromptSubmit' && isRequest(input ?? {}));
    if (!before && !PASSING.has(event)) return false;
    if (!before && mayHavePushed(input ?? {})) return false;
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
    const standsIn = served && seen === 'free' && !serverLives(stateFolder({ env }), session, (pid) => systemProcesses.get(pid));
    const marks: readonly Mark[] = seen === undefined || standsIn ? [] : seen === 'quiet' ? ['quiet', 'free'] : ['free'];
    try {
      if (since !== undefined) for (const mark of marks) leaveMark(mark, stateFolder({ env }), session, path, since);
    } catch {
      // Without the quiet mark, the next call asks the database again.
    }
    return seen === 'quiet' || (seen === 'free' && before && !standsIn);
  } catch {
    return false;
  }
}

/** Whether Qwen Code runs its prompt hook before a request with tool results, which has neither a prompt nor a person's text. */
const isRequest = ({ prompt, submitted_prompt: submitted }: HookInput): boolean => submitted === undefined && prompt === '';

/** Lists the processes that may be the host: only the process that Claude Code names to its hooks, otherwise all ancestors. */
export function hosts(env: Env): readonly Process[] {
  const named = namedHost(env);
  return named === undefined ? ancestors() : [named];
}

/** Returns the process whose id Claude Code passes to its hooks; undefined if no such process runs. */
export function namedHost(env: Env): Process | undefined {
  const pid = Number(env['CLAUDE_PID']);
  return Number.isInteger(pid) && pid > 1 ? systemProcesses.get(pid) : undefined;
}

/** Returns the path of the database; undefined if only the full configuration determines it. */
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
