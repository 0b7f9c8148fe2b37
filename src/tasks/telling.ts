/** Makes the notification for an agent that loses its task, or gets it back. */
import { defined } from '../core/defined.ts';
import type { NotificationInput } from '../core/notification.ts';
import type { Task, TaskActor } from '../core/task.ts';
import type { Telling } from './decide.ts';
import { REPORT_TOOL } from './tool-list.ts';

/** The key of all notifications about one task. */
export const keyOf = (task: Pick<Task, 'id'>): string => `task:${task.id}`;

export function tellingOf(
  task: Task,
  { why, says, reason }: Telling,
  { id, by }: { id: string; by: TaskActor },
): NotificationInput {
  return {
    id,
    kind: `task.${why}`,
    message: `Task ${task.id} ${JSON.stringify(task.title)} ${says}${by.kind === 'agent' ? `, because the agent ${by.name} changed the task` : ''}${reason === undefined ? '' : `: ${reason}`}`,
    key: keyOf(task),
    // A conversation with another purpose, in which people may talk about the task, does not get the notification.
    purpose: 'task',
    data: { task_id: task.id, title: task.title, ...defined({ reason }) },
    origin: by.kind === 'person' ? { person: by.name } : { agent: by.name, depth: 1 },
    ...(why === 'unblocked'
      ? { level: 'warning', instruction: 'Continue this task.' }
      : {
          action: 'cancel',
          instruction: stopInstruction(task),
          needs: { tool: REPORT_TOOL, otherwise: 'Stop the current work and say where you stopped.' },
        }),
  };
}

export const stopInstruction = ({ id }: Pick<Task, 'id'>, reportTool: string = REPORT_TOOL): string =>
  `Stop the current work and call ${reportTool}(result="blocked", task_id="${id}").`;
