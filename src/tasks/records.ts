/**
 * A record about a task, in the log of the task's assignee or of the agent that works on the task. Without such an agent, the
 * record is in `project/*`. `version` counts the records of one task in all logs, so that its history can be ordered.
 */
import type { ConversationId } from '../core/address.ts';
import { RECORD_TYPES } from '../core/record-types.ts';
import type { Draft } from '../core/records.ts';
import type { Interruption, Task, TaskActor, TaskExecution, TaskPriority, TaskStatus } from '../core/task.ts';

type About = { readonly task: string; readonly version: number; readonly by: TaskActor };

export type TaskRecord = About & Fact;

/** A record before it gets its place in the task's history. */
export type Fact =
  | {
      readonly type: 'task_created';
      readonly title: string;
      readonly description: string;
      readonly priority: TaskPriority;
      readonly status: TaskStatus;
      readonly assignee: string | null;
    }
  | { readonly type: 'task_edited'; readonly title?: string; readonly description?: string; readonly priority?: TaskPriority }
  | { readonly type: 'task_assigned'; readonly from: string | null; readonly to: string | null }
  /** Records the task after a reassignment, in the log of the new assignee (`project/*` if there is none). */
  | { readonly type: 'task_received'; readonly from: string | null; readonly snapshot: Task }
  | { readonly type: 'task_status_changed'; readonly from: TaskStatus; readonly to: TaskStatus; readonly reason?: string }
  | {
      readonly type: 'task_execution_started';
      readonly execution: string;
      readonly agent: string;
      readonly conversation?: ConversationId;
    }
  /** A conversation took an execution that had no conversation, or inherited the execution of an ended conversation. */
  | { readonly type: 'task_execution_taken'; readonly execution: string; readonly conversation: ConversationId }
  | {
      readonly type: 'task_execution_interrupted';
      readonly execution: string;
      readonly why: Interruption['why'];
      readonly reason?: string;
      readonly notification: string;
    }
  /** The interruption has ended. `told`: true if the agent may have read the request to stop. */
  | { readonly type: 'task_execution_recalled'; readonly execution: string; readonly told: boolean }
  /** The agent reported `blocked` because of an interruption that had ended, and was asked to continue. */
  | { readonly type: 'task_execution_continued'; readonly execution: string }
  | {
      readonly type: 'task_execution_ended';
      readonly execution: string;
      readonly result: NonNullable<TaskExecution['result']>;
      readonly exit_code: number;
      readonly message: string;
    };

export const TASK_RECORDS = RECORD_TYPES.filter((type): type is Fact['type'] => type.startsWith('task_'));

export const isTaskRecord = (draft: Draft): boolean => (TASK_RECORDS as readonly string[]).includes(draft.type);

/** Makes records of the facts, numbered after the task's last record. */
export const recordsOf = (
  facts: readonly Fact[],
  { task, version, by }: { task: string; version: number; by: TaskActor },
): TaskRecord[] => facts.map((fact, i) => ({ ...fact, task, version: version + i + 1, by }));
