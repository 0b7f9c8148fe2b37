/**
 * Checks the input of people and agents about tasks. A failed check usually throws `bad_argument`, with a message that says what
 * to write instead.
 */
import { parseAddress, splitLog, type LogKey } from '../core/address.ts';
import { didYouMean, EarpieceError } from '../core/errors.ts';
import { TASK_LIMITS, type Task, type TaskActor } from '../core/task.ts';
import { notAPerson, notThisPerson, type InsideAgent } from '../inbox/index.ts';
import type { Command } from './decide.ts';

/** Reads an agent's name: `coder`, or `shop/coder` in the project `shop`. */
export function agentName(project: string, text: string): string {
  const address = parseAddress(text.includes('/') ? text : `${project}/${text}`);
  if (address.kind !== 'agent' || address.project !== project)
    throw bad(
      'assignee',
      `assignee ${JSON.stringify(text.slice(0, 80))} must be an agent of project ${project}; write only the name of the agent`,
    );
  return address.agent;
}

/** Checks a status, a priority or a result. The error suggests the nearest word. */
export function oneOf<T extends string>(what: string, given: string, words: readonly T[]): T {
  const found = words.find((word) => word === given);
  if (found !== undefined) return found;
  const near = didYouMean(given, words);
  throw bad(
    what,
    `${what} ${JSON.stringify(given.slice(0, 80))} must be one of ${words.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`,
  );
}

/** Returns the number in the id of a task: 7 for `t7`. */
export function numberOf(id: string): number {
  const number = /^t([1-9]\d{0,8})$/u.exec(id)?.[1];
  if (number === undefined) throw bad('task', `${JSON.stringify(id.slice(0, 80))} must be a task id, such as t7`);
  return Number(number);
}

export function titleOf(title: string): string {
  const clean = textOf('title', title, TASK_LIMITS.title).trim();
  // oxlint-disable-next-line no-control-regex -- a title is one line on terminals and for models
  if (clean === '' || /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/u.test(clean))
    throw bad(
      'title',
      `title ${JSON.stringify(title.slice(0, 80))} must be one line of text; put more text into the description`,
    );
  return clean;
}

export function textOf(what: string, text: string, max: number): string {
  if (text.length > max)
    throw bad(
      what,
      `${what} has ${text.length} characters, at most ${max} are allowed; put the remaining text into a file and name the file`,
    );
  return text.toWellFormed();
}

/** Throws `bad_argument` for an empty or too long name, and `not_trusted` if an agent's command names a person. */
export function checkActor({ kind, name }: TaskActor, inside: InsideAgent | undefined): void {
  if (name.trim() === '' || name.length > TASK_LIMITS.actor)
    throw bad('by', `by ${JSON.stringify(name.slice(0, 80))} must be a name of 1 to ${TASK_LIMITS.actor} characters`);
  if (kind === 'person' && inside !== undefined) throw notThisPerson(name, inside);
}

/**
 * Returns the name that a task keeps for the agent of a command: the agent in its own project, `project/agent` in another project,
 * and `agent` if the agent is not known.
 */
export function agentOfCommand(project: string, { log }: InsideAgent): string {
  if (log === '') return 'agent';
  const own = splitLog(log as LogKey);
  return own.project === project ? own.agent : log.slice(0, TASK_LIMITS.actor);
}

/**
 * Throws `not_trusted` if an agent's command would change the status or the assignee of a task that a person blocked. The
 * command may still change the text of the task, and the agent may report a result.
 */
export function mayChange(task: Task, command: Command, inside: InsideAgent): void {
  const { id, status, statusChangedBy } = task;
  if (status !== 'blocked' || statusChangedBy.kind !== 'person') return;
  const moves = command.kind === 'move' && command.to !== status;
  const assigns = command.kind === 'edit' && command.assignee !== undefined && command.assignee !== task.assignee;
  if (moves) throw notAPerson(`to move ${id} out of blocked, because a person blocked the task`, inside);
  if (assigns) throw notAPerson(`to assign ${id}, because a person blocked the task`, inside);
}

export const bad = (field: string, message: string): EarpieceError =>
  new EarpieceError('bad_argument', message, { data: { field } });
