/** Made of `../schemas/tasks.ts` by `node scripts/wire.ts --update`. */
import type { TaskExecution, TaskPriority, TaskStatus } from '../../core/task.ts';

/** A task, with its last execution. */
export type TaskView = {
  readonly id: string;
  readonly project: string;
  readonly title: string;
  readonly description: string;
  readonly priority: TaskPriority;
  readonly status: TaskStatus;
  readonly assignee: string | null;
  readonly blockedReason: string | null;
  readonly version: number;
  readonly createdAt: number;
  readonly createdBy: { readonly kind: 'person' | 'agent'; readonly name: string };
  readonly changedAt: number;
  readonly statusChangedAt: number;
  readonly statusChangedBy: { readonly kind: 'person' | 'agent'; readonly name: string };
  readonly execution: TaskExecution | null;
  /** The statuses to which the task may move now. */
  readonly mayBecome: readonly TaskStatus[];
};
