/** The schemas of tasks and executions. */
import { z } from 'zod';
import { INTERRUPTIONS, TASK_LIMITS, TASK_PRIORITIES, TASK_RESULTS, TASK_STATUSES, type TaskExecution } from '../../core/task.ts';
import { time, nullable, text, personName, nameParam, page } from './base.ts';

const actor = z.object({ kind: z.enum(['person', 'agent']), name: z.string() });
export const execution = z
  .object({
    id: z.string(),
    agent: z.string(),
    conversation: nullable(z.string()),
    startedAt: time,
    interrupted: nullable(
      z.object({
        why: z.enum(INTERRUPTIONS),
        by: actor,
        at: time,
        reason: nullable(z.string()),
        notification: z.string().describe('the notification that informs the agent'),
      }),
    ),
    recalled: z.boolean(),
    endedAt: nullable(time),
    result: nullable(z.enum([...TASK_RESULTS, 'lost'])),
    exitCode: nullable(z.number().int()),
    message: nullable(z.string()),
  })
  .openapi('TaskExecution') satisfies z.ZodType<TaskExecution>;
export const task = z
  .object({
    id: z.string(),
    project: z.string(),
    title: z.string(),
    description: z.string(),
    priority: z.enum(TASK_PRIORITIES),
    status: z.enum(TASK_STATUSES),
    assignee: nullable(z.string()),
    blockedReason: nullable(z.string()),
    version: z.number().int(),
    createdAt: time,
    createdBy: actor,
    changedAt: time,
    statusChangedAt: time,
    statusChangedBy: actor,
    execution: nullable(execution),
    mayBecome: z.array(z.enum(TASK_STATUSES)).describe('the statuses to which the task may move now'),
  })
  .openapi('Task');
export const tasksPage = page(task).openapi('TasksPage');
export const executionsPage = page(execution).openapi('TaskExecutionsPage');
const expected = z
  .union([z.enum(TASK_STATUSES), z.number().int()])
  .optional()
  .describe('the status or the version that you saw; if the task now has another status or version, nothing is changed (409)');
const author = personName(TASK_LIMITS.actor).optional().describe('the person who makes the change');
export const taskInput = z
  .strictObject({
    project: nameParam.optional(),
    title: z.string(),
    description: z.string().optional(),
    priority: z.enum(TASK_PRIORITIES).optional(),
    assignee: nullable(text(300)).optional().describe('an agent of the project'),
    status: z.enum(['backlog', 'todo']).optional(),
    author,
  })
  .openapi('TaskInput');
export const taskEdit = z
  .strictObject({
    title: z.string().optional(),
    description: z.string().optional(),
    priority: z.enum(TASK_PRIORITIES).optional(),
    assignee: nullable(text(300)).optional().describe('an agent of the project; null: unassigned'),
    expected,
    author,
  })
  .openapi('TaskEdit');
export const taskMove = z
  .strictObject({
    status: z.enum(TASK_STATUSES),
    expected,
    reason: z.string().optional().describe('the reason, which the agent reads'),
    author,
  })
  .openapi('TaskMove');
