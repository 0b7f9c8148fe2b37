/** `get_next_action` and `report_completed`: how an agent that works on tasks is led, and says what became of them. */
import { EarpieceError } from '../core/errors.ts';
import { TASK_RESULTS, type Task, type TaskExecution } from '../core/task.ts';
import type { Conversation } from '../inbox/index.ts';
import { nextFor, report, Tasks, type Next, type Reported } from '../tasks/index.ts';
import type { OwnCall, OwnTool } from './rider.ts';

const SESSION_TOKEN = {
  type: 'string',
  description: 'Only needed when this connection is not bound to a conversation: project/agent#conversation',
};

export const TASK_TOOLS: readonly OwnTool[] = [
  {
    name: 'get_next_action',
    description:
      'Says what to do next: the task to work on (it is yours from then on), that work has to stop, or that there is nothing to do. ' +
      'Call it at the start and after each report_completed.',
    inputSchema: { type: 'object', properties: { session_token: SESSION_TOKEN }, additionalProperties: false },
    annotations: { title: 'Get next action', readOnlyHint: false, idempotentHint: true, openWorldHint: false },
  },
  {
    name: 'report_completed',
    description:
      'Reports how work on a task ended: "success" when it is done, "failed" when it cannot be done, "blocked" when something or somebody stands in the way, ' +
      'also when you were told to stop. Call it once for each task.',
    inputSchema: {
      type: 'object',
      properties: {
        result: { type: 'string', enum: TASK_RESULTS },
        summary: { type: 'string', description: 'What was done, or what stands in the way' },
        task_id: { type: 'string', description: 'Only needed when you work on several tasks' },
        session_token: SESSION_TOKEN,
      },
      required: ['result', 'summary'],
      additionalProperties: false,
    },
    annotations: { title: 'Report completed', readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  },
];

export const isTaskTool = (name: string): boolean => TASK_TOOLS.some((tool) => tool.name === name);

/** `carries`: what is open may ride behind it. An interrupt that is only shown is left for the call that delivers it. */
export type TaskAnswer = { readonly body: object; readonly carries: boolean };

/** Throws what the agent did wrong, as a sentence for it. */
export async function answerTask(conversation: Conversation, call: OwnCall): Promise<TaskAnswer> {
  const tasks = new Tasks(conversation.inbox);
  const given = textsOf(call, Object.keys(propertiesOf(call.tool) ?? {}));
  if (call.tool === 'get_next_action') {
    const next = await nextFor(tasks, conversation);
    return { body: saidNext(next), carries: next.kind !== 'interrupt' };
  }
  const { result, summary, task_id: task } = given;
  if (result === undefined || summary === undefined)
    throw new EarpieceError(
      'bad_argument',
      `report_completed needs ${result === undefined ? `result (${TASK_RESULTS.join(', ')})` : 'summary, a sentence on what was done or what stands in the way'}`,
    );
  return { body: saidReport(await report(tasks, conversation, { result, summary, task })), carries: true };
}

/** Whoever speaks for a conversation says so by its token. */
export const tokenOf = ({ args }: OwnCall): unknown => (args as { session_token?: unknown } | null | undefined)?.session_token;

function saidNext(next: Next): object {
  switch (next.kind) {
    case 'interrupt':
      return {
        action: 'get_notifications',
        message: 'An interrupt is unread.',
        instruction: 'Call get_notifications now and follow it. Nothing else is to be done before.',
        interrupts: next.interrupts.map(({ notification: { message, instruction, data } }) => ({
          message,
          ...(instruction === undefined ? {} : { instruction }),
          ...taskIn(data),
        })),
      };
    case 'stop': {
      const { task, execution } = next;
      return {
        action: 'stop',
        task_id: task.id,
        message: whyStopped(task, execution),
        instruction: `Stop the current work and call report_completed(result="blocked", task_id="${task.id}").`,
      };
    }
    case 'work': {
      const { id, title, description, priority } = next.task;
      return {
        action: 'work',
        task: { id, title, description, priority },
        execution: next.execution.id,
        ...(next.resumed ? { resumed: true } : {}),
        instruction: 'Do this task, then call report_completed.',
      };
    }
    case 'nothing':
      return {
        action: 'none',
        message: 'There is nothing to do.',
        ...(next.blocked.length > 0 ? { blocked: next.blocked.map(({ id }) => id) } : {}),
        instruction: 'End work.',
      };
    default:
      return next satisfies never;
  }
}

function saidReport({ kind, tasks, left }: Reported): object {
  const [goingOn] = left;
  const then = goingOn === undefined ? undefined : `Go on with ${goingOn.id}.`;
  const about = { success: true, tasks: tasks.map(({ id, status }) => ({ id, status })) };
  switch (kind) {
    case 'ended':
      return { ...about, message: 'The report is recorded.', instruction: then ?? 'Call get_next_action for the next task.' };
    case 'interrupted':
      return {
        ...about,
        already_interrupted: true,
        message: `Already interrupted: ${tasks
          .map((task) =>
            whyStopped(
              task,
              task.executions.findLast((one) => one.interrupted !== null),
            ),
          )
          .join('; ')}.`,
        instruction: then ?? 'End work.',
      };
    case 'go_on':
      return {
        ...about,
        message: 'Nothing was ended: what you were told to stop for is over, the task is in progress again.',
        instruction: `Go on with ${tasks.map(({ id }) => id).join(', ')}. If it is blocked all the same, report that once more.`,
      };
    default:
      return kind satisfies never;
  }
}

function whyStopped({ id }: Task, execution: TaskExecution | undefined): string {
  const cut = execution?.interrupted;
  if (!cut) return `${id} was stopped`;
  return `${id} was ${cut.why} by ${cut.by.name}${cut.reason === null ? '' : ` (${cut.reason})`}`;
}

const taskIn = (data: unknown): object =>
  typeof data === 'object' && data !== null && 'task_id' in data ? { task_id: data.task_id } : {};

const propertiesOf = (tool: string): unknown =>
  (TASK_TOOLS.find(({ name }) => name === tool)?.['inputSchema'] as { properties?: unknown } | undefined)?.properties;

function textsOf({ tool, args }: OwnCall, known: readonly string[]): Readonly<Record<string, string | undefined>> {
  const given = (args ?? {}) as Record<string, unknown>;
  for (const [key, value] of Object.entries(given)) {
    if (!known.includes(key))
      throw new EarpieceError(
        'bad_argument',
        `${tool} has no argument ${JSON.stringify(key)}; it takes ${known.join(', ').replace(/, ([^,]*)$/u, ' and $1')}`,
      );
    if (typeof value !== 'string') throw new EarpieceError('bad_argument', `${key} ${JSON.stringify(value)} is not a text`);
  }
  return given as Record<string, string | undefined>;
}
