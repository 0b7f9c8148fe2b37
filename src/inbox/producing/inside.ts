/**
 * Finds out whether a tool of an Earpiece agent started this process. Such a process acts for the agent: it does not count as a
 * person, and cannot lift a pause.
 *
 * Each process that a tool starts inherits the variables below. A command can remove the variables from its own environment.
 * Therefore, the initial environments of this process's ancestors are checked too, on systems that show them (Linux). All of
 * these processes may lack the variables, because `exec env -u` may have replaced the tool's shell. Then the command line shows
 * an ancestor that runs `earpiece chat` or `earpiece run`. A command that leaves the process tree counts as a person. A command
 * that writes the database file itself is not checked at all: see docs/agent-permissions.md.
 */
import { readFileSync } from 'node:fs';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Emitter } from '../../core/event.ts';
import { checksum } from '../../core/checksum.ts';
import { keyOfSender, ofSender } from '../../core/senders.ts';
import {
  isInterrupt,
  isReminder,
  levelRank,
  type Level,
  type Notification,
  type NotificationInput,
  type Origin,
} from '../../core/notification.ts';
import { isOwnAgent } from '../presence/own-agent.ts';
import { ancestors, systemProcesses, type Process, type Processes } from '../presence/processes.ts';

/** The name of the variable with the id of the handle that runs this process, or with `mcp` for an MCP server of the agent. */
export const HANDLE_VARIABLE = 'EARPIECE_HANDLE';
/** The name of the variable with the address of the agent to which this process belongs. */
export const HANDLE_OF_VARIABLE = 'EARPIECE_HANDLE_OF';

/** The agent to which a process belongs: its `project/agent` ("" if the name is not known) and its conversation. */
export type InsideAgent = { readonly log: string; readonly conversation?: string };

export type InsideQuestion = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly processes?: Processes;
  /** Reads the initial environment of a process. Undefined if the system does not show this environment. */
  readonly environOf?: (pid: number) => Readonly<Record<string, string | undefined>> | undefined;
};

/** Returns the agent whose tool started this process. Undefined if no such agent is found. */
export function insideAgent({ env, processes = systemProcesses, environOf = fromProc }: InsideQuestion): InsideAgent | undefined {
  // The topmost process with these variables decides, because the agent itself started it, and a lower process may have changed
  // the variables. `environOf` is asked for this process too, because a program may have removed the variables from
  // `process.env`.
  const above = ancestors(processes);
  const marked = [env, environOf(process.pid) ?? {}, ...above.map(({ pid }) => environOf(pid) ?? {})].filter(
    (each) => (each[HANDLE_VARIABLE] ?? '') !== '',
  );
  const first = marked.at(-1);
  if (first === undefined) return above.some((each) => isOwnAgent(each)) ? { log: '' } : undefined;
  const [log = '', conversation] = (first[HANDLE_OF_VARIABLE] ?? '').split('#');
  return { log, ...defined({ conversation }) };
}

/**
 * Returns the ancestors that belong to the command of the nearest agent: the command itself, and the processes below it. If the
 * system does not show which process is the agent, all ancestors are returned.
 */
export function ancestorsInCommand({
  processes = systemProcesses,
  environOf = fromProc,
}: Omit<InsideQuestion, 'env'> = {}): readonly Process[] {
  const above = ancestors(processes);
  const agent = above.findIndex((each) => isOwnAgent(each));
  if (agent !== -1) return above.slice(0, agent);
  if (environOf(process.pid) === undefined) return above;
  return above.slice(0, above.findLastIndex(({ pid }) => (environOf(pid)?.[HANDLE_VARIABLE] ?? '') !== '') + 1);
}

/** The highest level of a notification from an agent's command, because an agent must not interrupt. */
export const AGENT_MAX_LEVEL: Level = 'error';

export const cappedForAgent = (level: Level): Level => (levelRank(level) > levelRank(AGENT_MAX_LEVEL) ? AGENT_MAX_LEVEL : level);

/**
 * Names the agent as the origin of a notification that its process sends, and lowers the level `critical` to `error`. Throws
 * `not_trusted` if the input names a person. Does not check the input's action, which `queue` refuses.
 */
export function asAgent(input: NotificationInput, { log }: InsideAgent): NotificationInput {
  const { person, agent, ...origin }: Partial<Origin> = input.origin ?? {};
  if (person !== undefined) throw notThisPerson(person, { log });
  return {
    ...input,
    ...(input.level === undefined ? {} : { level: cappedForAgent(input.level) }),
    // A command whose agent is not known must not name another agent.
    origin: { depth: 0, ...origin, ...defined({ agent: log === '' ? (origin.words ? undefined : agent) : log }) },
  };
}

/**
 * Marks a notification or an event whose content the caller of this process chooses. The mark is set if an agent's command made
 * it, or if its sender is an agent and no person. The model reads this content as the words of the agent (`tellerOf`).
 * Earpiece's own notifications, such as the end of a session, are not marked.
 */
export const callersWords = <Given extends { readonly origin?: Partial<Origin> }>(given: Given, inside?: InsideAgent): Given => {
  const { agent, person } = given.origin ?? {};
  const isAgents = inside !== undefined || (agent !== undefined && person === undefined);
  return isAgents ? { ...given, origin: { ...given.origin, words: true as const } } : given;
};

/**
 * Returns an emitter for events whose content the caller of this process chooses. In an agent's command, these events are
 * separate from the events of all other senders. Events that Earpiece itself makes in the command, for example about a
 * follower, are not separate. Other processes emit later events with the same keys.
 */
export const callersEmitter = (emitter: Emitter, inside: InsideAgent | undefined): Emitter =>
  inside === undefined
    ? emitter
    : { emit: async (event) => emitter.emit(callersWords(ofSender(event, senderOf(inside)), inside)) };

/** Returns each key that a caller may mean: the given key and, in an agent's command, the key that `callersEmitter` makes. */
export const callersKeys = (key: string, inside: InsideAgent | undefined): readonly string[] =>
  inside === undefined ? [key] : [key, keyOfSender(key, senderOf(inside))];

/**
 * The source of the events of an agent's command, and the prefix of their keys. A ":" ends the prefix, so each ":" in a name is
 * escaped.
 */
function senderOf({ log }: InsideAgent): string {
  const name = log.replaceAll(/[%:]/gu, encodeURIComponent);
  return `agent/${log === '' ? 'unknown' : name.length <= SENDER_CHARS ? name : checksum(name)}`;
}

/**
 * The maximum number of characters of a name in a source. Keys and ids of events begin with the source, and their length is
 * limited.
 */
const SENDER_CHARS = 100;

/**
 * Throws `not_trusted` unless the agent may withdraw the notification. An agent may withdraw its own notifications, and
 * notifications that are neither interrupts nor reminders nor from a person. The agent may not withdraw the reminder of another
 * sender, because a reminder does not name the person who made it.
 */
export function mayTakeBack(notification: Notification, inside: InsideAgent): void {
  const { id, origin } = notification;
  if (isOwn(notification, inside)) return;
  if (isReminder(notification)) throw notAPerson(`to cancel a reminder that ${NOT_ITS_OWN}`, inside);
  if (origin?.person !== undefined || isInterrupt(notification)) throw notAPerson(`to withdraw ${id}`, inside);
}

/**
 * Throws `not_trusted` if an agent's notification would supersede a reminder that the agent did not make. `open`: the open items
 * with the key of the notification, for the same conversation.
 */
export function mayReplace(notification: Notification, open: readonly Notification[], inside: InsideAgent): void {
  const others = open.filter((each) => isReminder(each) && each.supersede && !isOwn(each, inside));
  if (notification.supersede && others.length > 0) throw notAPerson(`to replace a reminder that ${NOT_ITS_OWN}`, inside);
}

const NOT_ITS_OWN = 'the agent did not make';

const isOwn = ({ origin }: Notification, { log }: InsideAgent): boolean => log !== '' && origin?.agent === log;

/**
 * Throws `not_trusted` if the agent must not requeue the notification, because the notification is an interrupt or comes from a
 * person.
 */
export function mayRequeue({ id, origin, ...notification }: Notification, inside: InsideAgent): void {
  if (origin?.person !== undefined || isInterrupt(notification)) throw notAPerson(`to queue ${id} again`, inside);
}

/** Returns the error for a command of an agent that acts in the name of a person. */
export const notThisPerson = (person: string, inside: InsideAgent): EarpieceError =>
  notAPerson(`to speak as ${JSON.stringify(person.slice(0, 80))}`, inside);

/** Returns the name that the log keeps for an action: `by`, or in a command of an agent the name of this agent. */
export const actorOf = (by: string, inside: InsideAgent | undefined): string =>
  inside === undefined ? by : inside.log || 'an agent';

/** Returns the error for an action that only a person may do: `what` completes "is not allowed …". */
export const notAPerson = (what: string, { log }: InsideAgent): EarpieceError =>
  new EarpieceError(
    'not_trusted',
    `a command that the agent${log === '' ? '' : ` ${log}`} runs is not allowed ${what}; run the command as a person in a separate terminal`,
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
