/**
 * Decides the effects of a command on a task, as a pure function of the stored task, the command and the facts. One append then
 * writes the decided facts and the notification, or nothing.
 *
 *   backlog ⇄ todo        backlog, todo ──▶ in_progress ⇄ blocked        in_progress ──▶ todo, done
 *   everything but done ──▶ cancelled
 *
 * An execution is one agent's work on the task. An execution starts when an assigned task becomes `in_progress` (without a
 * conversation yet) or when an agent takes the task. The agent's report ends the execution. If the agent's conversation has ended
 * without a report, the next `take` or `lose` ends the execution as lost. If a person takes the task from the agent, the
 * execution is interrupted but does not end. The agent is notified once, and its report ends the execution. An agent cannot stop
 * the work of another agent.
 */
import type { ConversationId } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import {
  NEXT_STATUSES,
  type Interruption,
  type Task,
  type TaskActor,
  type TaskExecution,
  type TaskPriority,
  type TaskResult,
  type TaskStatus,
} from '../core/task.ts';
import type { Fact } from './records.ts';

export type Command =
  /** Changes the task's fields and assignee. */
  | {
      readonly kind: 'edit';
      readonly title?: string;
      readonly description?: string;
      readonly priority?: TaskPriority;
      readonly assignee?: string | null;
    }
  | { readonly kind: 'move'; readonly to: TaskStatus; readonly reason?: string }
  /** An agent takes the task in one of its conversations. */
  | { readonly kind: 'take'; readonly agent: string; readonly conversation: ConversationId }
  | {
      readonly kind: 'report';
      readonly agent: string;
      readonly conversation: ConversationId;
      readonly result: TaskResult;
      readonly summary: string;
    }
  /** Ends the agent's execution as lost, unless a conversation may still report the execution. */
  | { readonly kind: 'lose'; readonly agent: string };

export type Facts = {
  readonly by: TaskActor;
  /**
   * The `project/agent` of the agent whose command this process is, or "" if its name is not known. Undefined if no agent's
   * command started this process.
   */
  readonly inside?: string;
  /** The status or the version that the caller saw. The command is refused if the task now has another status or version. */
  readonly expected?: TaskStatus | number;
  /** The id of the notification, if the decision needs one. */
  readonly notification: string;
  /** Whether the agent may already have read the request to stop. */
  readonly told: boolean;
  /** Whether this conversation of the agent is active. */
  readonly isActive: (conversation: string) => boolean;
};

export type Decision =
  | {
      readonly kind: 'decided';
      readonly facts: readonly Fact[];
      /** The agent whose log gets the records and the notification. Null means the log of the project. */
      readonly agent: string | null;
      /**
       * If set, open notifications about the task are withdrawn for this reason, and delivered interrupts about the task no
       * longer hold the gate up.
       */
      readonly takesBack?: string;
      readonly tells?: Telling;
      /** The kind of the answer to a report. */
      readonly answer?: 'ended' | 'interrupted' | 'go_on';
    }
  /** Nothing changes, for example because the task already has the requested state. */
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly code: Refusal; readonly message: string };

type Refusal = 'conflict' | 'bad_argument' | 'not_found' | 'not_trusted';

export type Telling = {
  readonly why: Interruption['why'] | 'unblocked';
  /** The task's new state, in words. */
  readonly says: string;
  readonly reason?: string;
  /**
   * The conversation that works on the task and gets the notification. Null if no conversation has taken the task. In that case,
   * each active conversation of the agent gets a request to stop, but only the first one that can deliver it gets `unblocked`.
   */
  readonly conversation: string | null;
};

export function decide(task: Task, command: Command, facts: Facts): Decision {
  const { expected } = facts;
  if (expected !== undefined && expected !== task.status && expected !== task.version)
    return refuse('conflict', outdated(task, expected));
  switch (command.kind) {
    case 'edit':
      return edit(task, command, facts);
    case 'move':
      return move(task, command, facts);
    case 'take':
      return take(task, command, facts);
    case 'report':
      return report(task, command, facts);
    case 'lose':
      return lose(task, command.agent, facts);
    default:
      return command satisfies never;
  }
}

/** Returns the agent's running execution. An agent has at most one running execution of each task. */
export function runningOf(task: Task, agent: string | null): TaskExecution | undefined {
  return task.executions.findLast((one) => one.agent === agent && one.endedAt === null);
}

/** Whether the task is final: it has ended, and no report is pending. */
export function isClosed(task: Task): boolean {
  return NEXT_STATUSES[task.status].length === 0 && task.executions.every((one) => one.endedAt !== null);
}

export const named = ({ id, title }: Task): string => `task ${id} ${JSON.stringify(title)}`;

/**
 * Describes how the task differs from `expected`. For an expected version no name is given, because a task names only the person
 * or agent of its last status change.
 */
function outdated(task: Task, expected: TaskStatus | number): string {
  const now = `is ${task.status} (version ${task.version}) now, and not`;
  if (typeof expected === 'number') return `${named(task)} ${now} version ${expected}; read the task again`;
  return `${named(task)} was changed by ${task.statusChangedBy.name}: the task ${now} ${expected}; read the task again`;
}

function edit(task: Task, { kind: _kind, assignee, ...given }: Extract<Command, { kind: 'edit' }>, facts: Facts): Decision {
  const news = Object.entries(given).filter(([key, value]) => value !== undefined && value !== task[key as keyof typeof given]);
  const assigned = assign(task, assignee === undefined ? task.assignee : assignee, facts);
  if (news.length === 0 || assigned.kind === 'refused') return assigned;
  const edited: Fact = { type: 'task_edited', ...Object.fromEntries(news) };
  if (assigned.kind === 'unchanged') return { kind: 'decided', facts: [edited], agent: task.assignee };
  return { ...assigned, facts: [edited, ...assigned.facts] };
}

function assign(task: Task, to: string | null, facts: Facts): Decision {
  const from = task.assignee;
  if (to === from) return { kind: 'unchanged' };
  if (NEXT_STATUSES[task.status].length === 0)
    return refuse('conflict', `${named(task)} is ${task.status} and can no longer change; add a new task`);
  const assigned: Fact = { type: 'task_assigned', from, to };
  // The task is not in progress until its new agent takes it.
  const back: Fact[] = task.status === 'in_progress' ? [{ type: 'task_status_changed', from: 'in_progress', to: 'todo' }] : [];
  const running = runningOf(task, from);
  if (from === null || task.status !== 'in_progress' || isItself(task, from, facts))
    return { kind: 'decided', facts: [assigned, ...back], agent: from };
  if (facts.by.kind === 'agent') return notItsWork(task, from, facts);
  return {
    kind: 'decided',
    facts: [...interrupted(running, 'reassigned', facts), assigned, ...back],
    agent: from,
    takesBack: 'the task has another assignee',
    tells: {
      why: 'reassigned',
      says: to === null ? 'no longer has an assignee' : `is now assigned to ${to}`,
      conversation: running?.conversation ?? null,
    },
  };
}

function move(task: Task, { to, reason }: Extract<Command, { kind: 'move' }>, facts: Facts): Decision {
  const from = task.status;
  if (to === from) return { kind: 'unchanged' };
  const next = NEXT_STATUSES[from];
  if (!next.includes(to))
    return refuse(
      'conflict',
      `${named(task)} is ${from} and cannot become ${to}; ${next.length === 0 ? `${from} is final, so add a new task` : `the task can become ${next.join(', ')}`}`,
    );
  const { by, notification, told } = facts;
  const agent = task.assignee;
  const changed: Fact = { type: 'task_status_changed', from, to, ...defined({ reason }) };
  if (agent === null) return { kind: 'decided', facts: [changed], agent };
  const running = runningOf(task, agent);
  if (to === 'in_progress') {
    if (running === undefined)
      return { kind: 'decided', facts: [changed, started(task, agent)], agent, takesBack: `the task is ${to}` };
    const tells: Telling = { why: 'unblocked', says: 'may go on', conversation: running.conversation };
    return {
      kind: 'decided',
      facts: [changed, { type: 'task_execution_recalled', execution: running.id, told }],
      agent,
      takesBack: `the task is ${to} again`,
      ...(told ? { tells } : {}),
    };
  }
  // An agent that may have read a request to stop, but has not reported, needs no second request. A request that was never
  // offered is replaced.
  const stops = from === 'in_progress' || (running?.interrupted != null && !told);
  if (!stops || isItself(task, agent, facts)) return { kind: 'decided', facts: [changed], agent };
  if (by.kind === 'agent') return notItsWork(task, agent, facts);
  const why = to === 'blocked' || to === 'cancelled' ? to : 'stopped';
  return {
    kind: 'decided',
    facts: [changed, ...interrupted(running, why, { notification, reason })],
    agent,
    takesBack: `the task is ${to}`,
    tells: {
      why,
      says: `is ${to === 'todo' ? 'put back' : to}`,
      ...defined({ reason }),
      conversation: running?.conversation ?? null,
    },
  };
}

function take(task: Task, { agent, conversation }: Extract<Command, { kind: 'take' }>, { isActive }: Facts): Decision {
  if (task.assignee !== agent)
    return refuse('conflict', `${named(task)} is assigned to ${task.assignee ?? 'nobody'}, not to ${agent}`);
  const running = runningOf(task, agent);
  const mine = running?.conversation === conversation;
  const elses = running !== undefined && running.conversation !== null && !mine;
  if (elses && isActive(running.conversation))
    return refuse('conflict', `${agent}#${running.conversation} already works on ${named(task)}`);
  const before: Fact[] = elses ? [lost(running)] : [];
  if (task.status === 'todo' && !(running !== undefined && !elses))
    return {
      kind: 'decided',
      facts: [...before, { type: 'task_status_changed', from: 'todo', to: 'in_progress' }, started(task, agent, conversation)],
      agent,
    };
  if (task.status !== 'in_progress') return refuse('conflict', `${named(task)} is ${task.status}`);
  if (mine) return { kind: 'unchanged' };
  if (running?.conversation === null)
    return { kind: 'decided', facts: [{ type: 'task_execution_taken', execution: running.id, conversation }], agent };
  return { kind: 'decided', facts: [...before, started(task, agent, conversation)], agent };
}

function report(
  task: Task,
  { agent, conversation, result, summary }: Extract<Command, { kind: 'report' }>,
  { isActive }: Facts,
): Decision {
  const running = runningOf(task, agent);
  if (running === undefined) return nothingRuns(task, agent);
  if (running.conversation !== null && running.conversation !== conversation && isActive(running.conversation))
    return refuse(
      'bad_argument',
      `${agent}#${running.conversation} works on ${named(task)}; only that conversation can report it, not ${agent}#${conversation}`,
    );
  const { interrupted: cut } = running;
  if (cut !== null) {
    const told = `${cut.by.name} ${DID[cut.why]} the task${cut.reason === null ? '' : `: ${cut.reason}`}`;
    return {
      kind: 'decided',
      facts: [ended(running, result, result === 'blocked' ? told : `${summary} (${told})`)],
      agent,
      takesBack: 'the execution of the task has ended',
      answer: 'interrupted',
    };
  }
  if (running.recalled && result === 'blocked')
    return {
      kind: 'decided',
      facts: [{ type: 'task_execution_continued', execution: running.id }],
      agent,
      takesBack: "the report's answer informed the agent",
      answer: 'go_on',
    };
  // A failed task is blocked until a person changes its status. Otherwise, agents could take the task and fail again forever.
  const to = result === 'success' ? 'done' : 'blocked';
  const reason = result === 'failed' ? `failed: ${summary}` : summary;
  const moves = task.assignee === agent && task.status !== to && (task.status === 'in_progress' || task.status === 'blocked');
  const moved: Fact = { type: 'task_status_changed', from: task.status, to, ...(to === 'blocked' ? { reason } : {}) };
  return {
    kind: 'decided',
    facts: [ended(running, result, summary), ...(moves ? [moved] : [])],
    agent,
    takesBack: 'the execution of the task has ended',
    answer: 'ended',
  };
}

function nothingRuns(task: Task, agent: string): Decision {
  const last = task.executions.findLast((one) => one.agent === agent);
  const why =
    last === undefined
      ? `the task is ${task.status} and assigned to ${task.assignee ?? 'nobody'}`
      : `${last.id} has already ended as ${last.result}`;
  return refuse('not_found', `${agent} has nothing to report about ${named(task)}: ${why}; nothing was changed`);
}

function lose(task: Task, agent: string, { isActive }: Facts): Decision {
  const running = runningOf(task, agent);
  if (running === undefined) return { kind: 'unchanged' };
  // An execution that no conversation has taken may still be reported until the task ends.
  const mayReport = running.conversation === null ? NEXT_STATUSES[task.status].length > 0 : isActive(running.conversation);
  if (mayReport) return { kind: 'unchanged' };
  return { kind: 'decided', facts: [lost(running)], agent, takesBack: 'the execution of the task has ended' };
}

const DID: Readonly<Record<Interruption['why'], string>> = {
  blocked: 'blocked',
  cancelled: 'cancelled',
  stopped: 'stopped',
  reassigned: 'reassigned',
};

function started(task: Task, agent: string, conversation?: ConversationId): Fact {
  const number = Number(task.executions.at(-1)?.id.split('.').at(-1) ?? 0) + 1;
  return {
    type: 'task_execution_started',
    execution: `${task.id}.${number}`,
    agent,
    ...defined({ conversation }),
  };
}

function interrupted(
  running: TaskExecution | undefined,
  why: Interruption['why'],
  { notification, reason }: { notification: string; reason?: string | undefined },
): Fact[] {
  if (running === undefined) return [];
  return [
    {
      type: 'task_execution_interrupted',
      execution: running.id,
      why,
      ...defined({ reason }),
      notification,
    },
  ];
}

const ended = (running: TaskExecution, result: TaskResult | 'lost', message: string): Fact => ({
  type: 'task_execution_ended',
  execution: running.id,
  result,
  exit_code: result === 'success' ? 0 : 1,
  message,
});

const lost = (running: TaskExecution): Fact =>
  ended(
    running,
    'lost',
    running.conversation === null
      ? `no conversation of ${running.agent} took the task`
      : `the conversation ${running.agent}#${running.conversation} ended without a report`,
  );

/**
 * Whether the agent itself made the change, and therefore needs no notification. A command of an agent may name another agent in
 * `by`, and an agent of another project may have the same name.
 */
const isItself = ({ project }: Task, agent: string, { by, inside }: Facts): boolean =>
  by.kind === 'agent' && by.name === agent && (inside === undefined || inside === `${project}/${agent}`);

function notItsWork(task: Task, agent: string, { by, inside = by.name }: Facts): Decision {
  const other = `another agent (${inside === '' ? 'its name is not known' : inside})`;
  return refuse(
    'not_trusted',
    `${agent} works on ${named(task)}, and ${other} cannot stop this work; send ${agent} a message, or ask a person to change the task`,
  );
}

const refuse = (code: Refusal, message: string): Decision => ({
  kind: 'refused',
  code,
  message,
});
