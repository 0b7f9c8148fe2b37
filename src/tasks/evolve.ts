import { MAX_EXECUTIONS, type Task, type TaskExecution } from '../core/task.ts';
import type { TaskRecord } from './records.ts';

/** Returns the state of a task after one more record about it. `project` and `at` are the record's project and time. */
export function evolve(task: Task | undefined, record: TaskRecord, place: { project: string; at: number }): Task {
  const { at, project } = place;
  if (record.type === 'task_created') {
    const { title, description, priority, status, assignee, by, version } = record;
    return {
      id: record.task,
      project,
      title,
      description,
      priority,
      status,
      assignee,
      blockedReason: null,
      version,
      createdAt: at,
      createdBy: by,
      changedAt: at,
      statusChangedAt: at,
      statusChangedBy: by,
      executions: [],
    };
  }
  if (task === undefined)
    throw new TypeError(`the history of task ${record.task} must begin with its creation, but begins with ${record.type}`);
  const next: Task = { ...task, version: record.version, changedAt: at };
  switch (record.type) {
    case 'task_edited': {
      const { title = task.title, description = task.description, priority = task.priority } = record;
      return { ...next, title, description, priority };
    }
    case 'task_assigned':
      return { ...next, assignee: record.to };
    case 'task_received':
      return next;
    case 'task_status_changed':
      return {
        ...next,
        status: record.to,
        blockedReason: record.to === 'blocked' ? (record.reason ?? null) : null,
        statusChangedAt: at,
        statusChangedBy: record.by,
      };
    case 'task_execution_started':
      return {
        ...next,
        executions: newest([
          ...task.executions,
          {
            id: record.execution,
            agent: record.agent,
            conversation: record.conversation ?? null,
            startedAt: at,
            interrupted: null,
            recalled: false,
            endedAt: null,
            result: null,
            exitCode: null,
            message: null,
          },
        ]),
      };
    case 'task_execution_taken':
      return changed(next, record.execution, { conversation: record.conversation });
    case 'task_execution_interrupted': {
      const { why, by, reason = null, notification } = record;
      return changed(next, record.execution, { interrupted: { why, by, at, reason, notification }, recalled: false });
    }
    case 'task_execution_recalled':
      return changed(next, record.execution, { interrupted: null, recalled: record.told });
    case 'task_execution_continued':
      return changed(next, record.execution, { recalled: false });
    case 'task_execution_ended': {
      const { result, exit_code: exitCode, message } = record;
      return changed(next, record.execution, { endedAt: at, result, exitCode, message, recalled: false });
    }
    default:
      return record satisfies never;
  }
}

/** Replays all of one task's records, from any logs, oldest first. */
export function replayTask(records: Iterable<{ record: TaskRecord; project: string; at: number }>): Task | undefined {
  let task: Task | undefined;
  for (const { record, ...place } of records) task = evolve(task, record, place);
  return task;
}

function changed(task: Task, id: string, change: Partial<TaskExecution>): Task {
  return { ...task, executions: task.executions.map((one) => (one.id === id ? { ...one, ...change } : one)) };
}

/** Drops the oldest ended executions beyond `MAX_EXECUTIONS`. */
function newest(executions: readonly TaskExecution[]): readonly TaskExecution[] {
  let tooMany = executions.length - MAX_EXECUTIONS;
  return executions.filter((one) => one.endedAt === null || tooMany-- <= 0);
}
