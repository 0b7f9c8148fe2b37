/** Tasks as everybody sees them: what they are called, where they may go, and their shape on the wire. */

export const TASK_STATUSES = ['backlog', 'todo', 'in_progress', 'blocked', 'done', 'cancelled'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** Where a person may move a task from where it is. `done` and `cancelled` are for good. */
export const NEXT_STATUSES: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  backlog: ['todo', 'in_progress', 'cancelled'],
  todo: ['backlog', 'in_progress', 'cancelled'],
  in_progress: ['todo', 'blocked', 'done', 'cancelled'],
  blocked: ['in_progress', 'cancelled'],
  done: [],
  cancelled: [],
};

/** The most urgent last. */
export const TASK_PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const;
export type TaskPriority = (typeof TASK_PRIORITIES)[number];

/** What an agent may report of its execution. */
export const TASK_RESULTS = ['success', 'failed', 'blocked'] as const;
export type TaskResult = (typeof TASK_RESULTS)[number];

export const TASK_LIMITS = { title: 200, description: 20_000, reason: 2_000, summary: 4_000, actor: 128 } as const;

/** Whoever changed something. */
export type TaskActor = { readonly kind: 'person' | 'agent'; readonly name: string };

/** `stopped`: it was put back, or said to be done by somebody else. */
export const INTERRUPTIONS = ['blocked', 'cancelled', 'stopped', 'reassigned'] as const;

/** Somebody took the task out of the hands of whoever works on it, who is told by `notification`. */
export type Interruption = {
  readonly why: (typeof INTERRUPTIONS)[number];
  readonly by: TaskActor;
  readonly at: number;
  readonly reason: string | null;
  readonly notification: string;
};

/** One agent's work on a task, from taking it up until it reports. Times are epoch ms. */
export type TaskExecution = {
  /** `t7.2`, the second of task t7. */
  readonly id: string;
  readonly agent: string;
  /** The conversation that took it up; null: none has yet. */
  readonly conversation: string | null;
  readonly startedAt: number;
  readonly interrupted: Interruption | null;
  /** It was told to stop, and then that it may go on; a report that it is blocked may still be the answer to the first. */
  readonly recalled: boolean;
  readonly endedAt: number | null;
  /** `lost`: its conversation ended without a report. */
  readonly result: TaskResult | 'lost' | null;
  /** 0 for success, else 1. */
  readonly exitCode: number | null;
  readonly message: string | null;
};

export type Task = {
  /** `t7`, unique in its project. */
  readonly id: string;
  readonly project: string;
  readonly title: string;
  readonly description: string;
  readonly priority: TaskPriority;
  readonly status: TaskStatus;
  /** An agent of the project. */
  readonly assignee: string | null;
  readonly blockedReason: string | null;
  /** Grows with each record about it. */
  readonly version: number;
  readonly createdAt: number;
  readonly createdBy: TaskActor;
  readonly changedAt: number;
  readonly statusChangedAt: number;
  readonly statusChangedBy: TaskActor;
  /** The newest, at most `MAX_EXECUTIONS`; the log has all. */
  readonly executions: readonly TaskExecution[];
};

export const MAX_EXECUTIONS = 20;
