/** The task types that all parts of Earpiece share: statuses, transitions, and the JSON shape of a task. */

export const TASK_STATUSES = ['backlog', 'todo', 'in_progress', 'blocked', 'done', 'cancelled'] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

/** The statuses to which a person may move a task, for each current status. `done` and `cancelled` are final. */
export const NEXT_STATUSES: Readonly<Record<TaskStatus, readonly TaskStatus[]>> = {
  backlog: ['todo', 'in_progress', 'cancelled'],
  todo: ['backlog', 'in_progress', 'cancelled'],
  in_progress: ['todo', 'blocked', 'done', 'cancelled'],
  blocked: ['in_progress', 'cancelled'],
  done: [],
  cancelled: [],
};

/** Task priorities, the most urgent last. */
export const TASK_PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const;
export type TaskPriority = (typeof TASK_PRIORITIES)[number];

/** The results that an agent may report for its execution. */
export const TASK_RESULTS = ['success', 'failed', 'blocked'] as const;
export type TaskResult = (typeof TASK_RESULTS)[number];

export const TASK_LIMITS = { title: 200, description: 20_000, reason: 2_000, summary: 4_000, actor: 128 } as const;

/** The person or agent that made a change. */
export type TaskActor = { readonly kind: 'person' | 'agent'; readonly name: string };

/**
 * Why an agent lost its task. `stopped`: the task went back to an earlier status, or a person moved the task to `done`.
 */
export const INTERRUPTIONS = ['blocked', 'cancelled', 'stopped', 'reassigned'] as const;

/**
 * A person's change that took the task away from the agent that works on it. `notification` is the id of the notification that
 * informs the agent.
 */
export type Interruption = {
  readonly why: (typeof INTERRUPTIONS)[number];
  readonly by: TaskActor;
  readonly at: number;
  readonly reason: string | null;
  readonly notification: string;
};

/** One agent's work on a task. Times are epoch ms. */
export type TaskExecution = {
  /** The id, such as `t7.2` for the second execution of task t7. */
  readonly id: string;
  readonly agent: string;
  /** The conversation that took the task. Null if no conversation has taken the task yet. */
  readonly conversation: string | null;
  readonly startedAt: number;
  readonly interrupted: Interruption | null;
  /**
   * True if the agent was asked to stop and later allowed to continue. A report of `blocked` may still answer the request to
   * stop.
   */
  readonly recalled: boolean;
  readonly endedAt: number | null;
  /** `lost`: the execution ended without a report. */
  readonly result: TaskResult | 'lost' | null;
  /** 0 for success, and 1 for any other result. */
  readonly exitCode: number | null;
  readonly message: string | null;
};

export type Task = {
  /** The id, such as `t7`, unique in its project. */
  readonly id: string;
  readonly project: string;
  readonly title: string;
  readonly description: string;
  readonly priority: TaskPriority;
  readonly status: TaskStatus;
  /** The agent to which the task is assigned. Null if the task is not assigned. */
  readonly assignee: string | null;
  readonly blockedReason: string | null;
  /** Increases with each record about the task. */
  readonly version: number;
  readonly createdAt: number;
  readonly createdBy: TaskActor;
  readonly changedAt: number;
  readonly statusChangedAt: number;
  readonly statusChangedBy: TaskActor;
  /** The newest executions, at most `MAX_EXECUTIONS`. The log has all executions. */
  readonly executions: readonly TaskExecution[];
};

export const MAX_EXECUTIONS = 20;
