/**
 * Whether this process was started by a tool of an agent of ours. Such a process speaks for the agent: it is no person, and
 * it lifts nothing that a person ordered.
 *
 * Each process that a tool starts carries the variables below. A command can remove them from its own environment, so the
 * environments that its ancestors were started with are asked too, where the system shows them (Linux). A command that also
 * leaves the process tree, or writes the database file itself, cannot be told from a person: see docs/agent-permissions.md.
 */
import { readFileSync } from 'node:fs';
import { EarpieceError } from '../../core/errors.ts';
import { isInterrupt, levelRank, type Level, type Notification, type NotificationInput } from '../../core/notification.ts';
import { ancestors, systemProcesses, type Processes } from '../presence/processes.ts';

/** Holds the id of the handle whose process this is. */
export const HANDLE_VARIABLE = 'EARPIECE_HANDLE';
/** Holds the address of the agent whose handle this is. */
export const HANDLE_OF_VARIABLE = 'EARPIECE_HANDLE_OF';

/** The agent that a process belongs to: its `project/agent`, or "" where only the handle is known, and its conversation. */
export type InsideAgent = { readonly log: string; readonly conversation?: string };

export type InsideQuestion = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly processes?: Processes;
  /** The environment that a process was started with; undefined where the system does not show it. */
  readonly environOf?: (pid: number) => Readonly<Record<string, string | undefined>> | undefined;
};

/** Undefined: no agent of ours started this process, as far as can be known. */
export function insideAgent({ env, processes = systemProcesses, environOf = fromProc }: InsideQuestion): InsideAgent | undefined {
  // The one highest up was started by the agent itself: what runs below it may have changed the names.
  // A program can remove the variables from its own `process.env`; the system still shows what it was started with.
  const marked = [env, environOf(process.pid) ?? {}, ...ancestors(processes).map(({ pid }) => environOf(pid) ?? {})].filter(
    (each) => (each[HANDLE_VARIABLE] ?? '') !== '',
  );
  const first = marked.at(-1);
  if (first === undefined) return undefined;
  const [log = '', conversation] = (first[HANDLE_OF_VARIABLE] ?? '').split('#');
  return { log, ...(conversation === undefined ? {} : { conversation }) };
}

/** At most this level: an agent does not interrupt. */
export const AGENT_MAX_LEVEL: Level = 'error';

export const cappedForAgent = (level: Level): Level => (levelRank(level) > levelRank(AGENT_MAX_LEVEL) ? AGENT_MAX_LEVEL : level);

/** What a process of an agent queues is the agent's: no person says it, nothing of it interrupts. Throws `not_trusted`. */
export function asAgent(input: NotificationInput, { log }: InsideAgent): NotificationInput {
  const { person } = input.origin ?? {};
  if (person !== undefined) throw notAPerson(`to speak as ${JSON.stringify(person.slice(0, 80))}`, { log });
  return {
    ...input,
    ...(input.level === undefined ? {} : { level: cappedForAgent(input.level) }),
    origin: { depth: 0, ...input.origin, ...(log === '' ? {} : { agent: log }) },
  };
}

/** It may take back what is neither an interrupt nor a person's, and all that it queued itself. Throws `not_trusted`. */
export function mayTakeBack({ id, origin, ...notification }: Notification, { log }: InsideAgent): void {
  const own = log !== '' && origin?.agent === log;
  if (!own && (origin?.person !== undefined || isInterrupt(notification))) throw notAPerson(`to take back ${id}`, { log });
}

/** It may queue again what is neither an interrupt nor a person's. Throws `not_trusted`. */
export function mayRequeue({ id, origin, ...notification }: Notification, inside: InsideAgent): void {
  if (origin?.person !== undefined || isInterrupt(notification)) throw notAPerson(`to queue ${id} again`, inside);
}

/** For what only a person may do: `what` completes "a command of an agent is not allowed …". */
export const notAPerson = (what: string, { log }: InsideAgent): EarpieceError =>
  new EarpieceError(
    'not_trusted',
    `a command that the agent${log === '' ? '' : ` ${log}`} runs is not allowed ${what}; a person does that in a terminal of their own`,
  );

function fromProc(pid: number): Readonly<Record<string, string>> | undefined {
  try {
    return Object.fromEntries(
      readFileSync(`/proc/${pid}/environ`, 'utf8')
        .split('\0')
        .flatMap((entry) => {
          const at = entry.indexOf('=');
          return at > 0 ? [[entry.slice(0, at), entry.slice(at + 1)]] : [];
        }),
    );
  } catch {
    return undefined;
  }
}
