/** Finds an agent's next action, and reports the results of the agent's tasks. */
import { splitLog } from '../core/address.ts';
import { EarpieceError } from '../core/errors.ts';
import type { Item } from '../core/items.ts';
import { TASK_LIMITS, TASK_PRIORITIES, TASK_RESULTS, type Task, type TaskActor, type TaskExecution } from '../core/task.ts';
import type { Conversation } from '../inbox/index.ts';
import { oneOf } from './checks.ts';
import { runningOf } from './decide.ts';
import type { Tasks } from './tasks.ts';

export type Next =
  /** The agent must read an interrupt before it gets a task. `nextFor` neither delivers notifications nor marks them as read. */
  | { readonly kind: 'interrupt'; readonly interrupts: readonly Item[] }
  /** The agent has read a pause that is still in force. */
  | { readonly kind: 'paused' }
  /** The agent was asked to stop, and has not reported yet. */
  | { readonly kind: 'stop'; readonly task: Task; readonly execution: TaskExecution }
  | { readonly kind: 'work'; readonly task: Task; readonly execution: TaskExecution; readonly resumed: boolean }
  | { readonly kind: 'nothing'; readonly blocked: readonly Task[] };

export type Report = { readonly result: string; readonly summary: string; readonly task?: string | undefined };

export type Reported = {
  /**
   * `interrupted` means that a person had already stopped the execution. `go_on` means that the reason to stop has ended and the
   * execution continues.
   */
  readonly kind: 'ended' | 'interrupted' | 'go_on';
  readonly tasks: readonly Task[];
  /** Other tasks that this conversation still works on. */
  readonly left: readonly Task[];
};

type Mine = { readonly task: Task; readonly execution: TaskExecution };

/**
 * Finds the agent's next action. If the action is to work on a task, the conversation takes the task. With `rides`, the agent
 * owns its transcript, so delivered notifications count as read.
 */
export async function nextFor(tasks: Tasks, conversation: Conversation, { rides = false } = {}): Promise<Next> {
  const { project, agent, by } = await worker(conversation);
  const gate = await conversation.gate();
  const interrupts = gate.filter(({ read, state }) => !read && !(rides && state === 'closed'));
  if (interrupts.length > 0) return { kind: 'interrupt', interrupts };
  if (gate.some(({ notification }) => notification.action === 'pause')) return { kind: 'paused' };

  for (const { task, execution } of await runningFor(tasks, conversation))
    if (execution.interrupted !== null) {
      if (isMine(execution, conversation)) return { kind: 'stop', task, execution };
      await tasks.change(project, task.id, { kind: 'lose', agent }, { by });
    }
  const mine = (await tasks.open(project)).filter((task) => task.assignee === agent);
  for (const task of [...mine.filter(({ status }) => status === 'in_progress'), ...mine.filter(isTodo).toSorted(urgentFirst)]) {
    const resumed = runningOf(task, agent)?.conversation === conversation.id;
    try {
      const taken = await tasks.change(project, task.id, { kind: 'take', agent, conversation: conversation.id }, { by });
      const execution = runningOf(taken.task, agent);
      if (execution !== undefined) return { kind: 'work', task: taken.task, execution, resumed };
    } catch (error) {
      // The error is `conflict` if another conversation works on the task, or if its status or assignee has changed.
      if (!(error instanceof EarpieceError && error.code === 'conflict')) throw error;
    }
  }
  return { kind: 'nothing', blocked: mine.filter(({ status }) => status === 'blocked') };
}

/**
 * Reports the result of one task, or the result `blocked` for all stopped tasks (see `chosen`). Throws `bad_argument` or
 * `not_found` if the report is invalid, or if this conversation has nothing to report.
 */
export async function report(tasks: Tasks, conversation: Conversation, given: Report): Promise<Reported> {
  const { project, agent, by } = await worker(conversation);
  const result = oneOf('result', given.result, TASK_RESULTS);
  const summary = given.summary.trim().toWellFormed();
  if (summary === '' || summary.length > TASK_LIMITS.summary)
    throw new EarpieceError(
      'bad_argument',
      `summary has ${summary.length} characters; write 1 to ${TASK_LIMITS.summary} about the finished work or the obstacle`,
    );
  const running = await runningFor(tasks, conversation);
  const meant = given.task === undefined ? chosen(running, conversation, result) : [await tasks.get(project, given.task)];
  const ended: Task[] = [];
  let kind: Reported['kind'] = 'ended';
  for (const { id } of meant) {
    const command = { kind: 'report', agent, conversation: conversation.id, result, summary } as const;
    const { task, answer = 'ended' } = await tasks.change(project, id, command, { by });
    ended.push(task);
    kind = answer;
  }
  const left = running.filter(
    ({ task, execution }) => execution.conversation === conversation.id && !ended.some(({ id }) => id === task.id),
  );
  return { kind, tasks: ended, left: left.map(({ task }) => task) };
}

/**
 * Returns the tasks that a report without a task id concerns. With the result `blocked`, these are the interrupted tasks, or if
 * there are none, the recalled tasks. In any other case, the report concerns one task, and a stopped task only if the
 * conversation works on no other task. Throws `not_found` if there is no such task, and `bad_argument` if there are several.
 */
function chosen(running: readonly Mine[], conversation: Conversation, result: string): readonly Task[] {
  const mine = running.filter(({ execution }) => isMine(execution, conversation));
  const interrupted = mine.filter(({ execution }) => execution.interrupted !== null);
  const recalled = mine.filter(({ execution }) => execution.interrupted === null && execution.recalled);
  const stopped = [...interrupted, ...recalled];
  // The answers differ: an interrupted execution ends, and a recalled execution goes on.
  const answered = interrupted.length > 0 ? interrupted : recalled;
  if (result === 'blocked' && answered.length > 0) return answered.map(({ task }) => task);
  const own = mine.filter(({ execution }) => execution.conversation === conversation.id);
  const all = own.length > 0 ? own : mine;
  const going = all.filter((one) => !stopped.includes(one));
  const candidates = going.length > 0 ? going : all;
  const [only, ...others] = candidates.map(({ task }) => task);
  if (only === undefined)
    throw new EarpieceError(
      'not_found',
      `${conversation.address} works on no task, so there is nothing to report; call ${conversation.nameOf('get_next_action')} for a task, or name an already reported task with task_id`,
    );
  if (others.length > 0)
    throw new EarpieceError(
      'bad_argument',
      `${conversation.address} works on ${candidates.map(({ task }) => task.id).join(', ')}; name one of them with task_id`,
    );
  return [only];
}

/**
 * Returns the agent of the conversation. Throws if the conversation has a purpose other than `task`: a conversation in which
 * people talk may not take or report tasks.
 */
async function worker(conversation: Conversation): Promise<{ project: string; agent: string; by: TaskActor }> {
  await conversation.seen();
  const purpose = await conversation.purpose();
  if (purpose !== undefined && purpose !== 'task')
    throw new EarpieceError(
      'bad_argument',
      `${conversation.address} is for ${purpose}; only conversations with the purpose task take and report tasks`,
    );
  const { project, agent } = splitLog(conversation.log);
  return { project, agent, by: { kind: 'agent', name: agent } };
}

async function runningFor(tasks: Tasks, { log }: Conversation): Promise<readonly Mine[]> {
  const { project, agent } = splitLog(log);
  return (await tasks.open(project)).flatMap((task) => {
    const execution = runningOf(task, agent);
    return execution === undefined ? [] : [{ task, execution }];
  });
}

const isMine = (execution: TaskExecution, { id }: Conversation): boolean =>
  execution.conversation === null || execution.conversation === id;
const isTodo = ({ status }: Task): boolean => status === 'todo';
const urgentFirst = (a: Task, b: Task): number => TASK_PRIORITIES.indexOf(b.priority) - TASK_PRIORITIES.indexOf(a.priority);
