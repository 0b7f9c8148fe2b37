/** What an agent is told when somebody takes a task out of its hands, and when it gets it back. */
import type { NotificationInput } from '../core/notification.ts';
import type { Task, TaskActor } from '../core/task.ts';
import type { Telling } from './decide.ts';
import { REPORT_TOOL } from './tool-list.ts';

/** All that is told about one task has this key. */
export const keyOf = (task: Pick<Task, 'id'>): string => `task:${task.id}`;

export function tellingOf(
  task: Task,
  { why, says, reason }: Telling,
  { id, by }: { id: string; by: TaskActor },
): NotificationInput {
  return {
    id,
    kind: `task.${why}`,
    message: `Task ${task.id} ${JSON.stringify(task.title)} ${says}${reason === undefined ? '' : `: ${reason}`}`,
    key: keyOf(task),
    // Whoever talks with people about the work is not the one who does it.
    purpose: 'task',
    data: { task_id: task.id, title: task.title, ...(reason === undefined ? {} : { reason }) },
    origin: by.kind === 'person' ? { person: by.name } : { agent: by.name, depth: 1 },
    ...(why === 'unblocked'
      ? { level: 'warning', instruction: 'Go on with it.' }
      : {
          action: 'cancel',
          instruction: stopInstruction(task),
          needs: { tool: REPORT_TOOL, otherwise: 'Stop the current work and say where you stopped.' },
        }),
  };
}

/** What is asked of an agent whose task was taken out of its hands. */
export const stopInstruction = ({ id }: Pick<Task, 'id'>, reportTool: string = REPORT_TOOL): string =>
  `Stop the current work and call ${reportTool}(result="blocked", task_id="${id}").`;
