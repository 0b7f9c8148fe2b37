/**
 * The tools `get_next_action` and `report_completed`, with which an agent gets tasks and reports their results. The arguments are
 * the same for every agent. The callers of `answerTask` add the transport and the names by which their agents know the tools.
 */
import { defined, withoutNulls } from '../core/defined.ts';
import { EarpieceError } from '../core/errors.ts';
import { liftedBy } from '../core/views/gate.ts';
import { TASK_RESULTS, type Task, type TaskExecution } from '../core/task.ts';
import { liftOf, type Conversation } from '../inbox/index.ts';
import type { Tasks } from './tasks.ts';
import { stopInstruction } from './telling.ts';
import { REPORT_TOOL, TASK_TOOLS } from './tool-list.ts';
import { nextFor, report, type Next, type Reported } from './work.ts';

/** Returns the name by which the agent knows a tool. */
type NameOf = (tool: string) => string;

export type TaskCall = { readonly tool: string; readonly args: unknown };

export type TaskCallOptions = {
  /** Further arguments, which the caller handles. */
  readonly also?: readonly string[];
  /**
   * Whether the agent owns its transcript. If so, open notifications follow this answer in the same message, and delivered
   * notifications count as read.
   */
  readonly rides?: boolean;
};

/**
 * The answer of a tool. `carries`: whether open notifications may follow the answer. False if the answer itself shows an
 * interrupt, which a later call delivers. An agent that owns its transcript ignores `carries`.
 */
export type TaskAnswer = { readonly body: object; readonly carries: boolean };

/** Answers a call. If the agent made a mistake, throws an error whose message the agent reads. */
export async function answerTask(
  tasks: Tasks,
  conversation: Conversation,
  call: TaskCall,
  { also = [], rides = false }: TaskCallOptions = {},
): Promise<TaskAnswer> {
  const { nameOf } = conversation;
  const given = textsOf(call, [...Object.keys(propertiesOf(call.tool)), ...also], nameOf);
  if (call.tool === 'get_next_action') {
    const next = await nextFor(tasks, conversation, { rides });
    return {
      body: saidNext(next, { rides, nameOf, lift: liftOf(conversation.inbox.store, conversation) }),
      carries: next.kind !== 'interrupt',
    };
  }
  const { result, summary, task_id: task } = given;
  if (result === undefined || summary === undefined)
    throw new EarpieceError(
      'bad_argument',
      `${nameOf(REPORT_TOOL)} needs ${result === undefined ? `result (${TASK_RESULTS.join(', ')})` : 'summary, a sentence on what was done or what blocks the task'}`,
    );
  return { body: saidReport(await report(tasks, conversation, { result, summary, task }), nameOf), carries: true };
}

function saidNext(
  next: Next,
  { rides, nameOf, lift }: { readonly rides: boolean; readonly nameOf: NameOf; readonly lift: string },
): object {
  switch (next.kind) {
    case 'interrupt':
      // The interrupt follows this answer in the same message, so the answer does not repeat the interrupt's text.
      if (rides)
        return {
          action: 'read_interrupt',
          message: 'An interrupt is unread.',
          instruction: 'Follow the interrupt in this result. Do nothing else first.',
        };
      return {
        action: 'get_notifications',
        message: 'An interrupt is unread.',
        instruction: `Call ${nameOf('get_notifications')} now and follow it. Do nothing else first.`,
        interrupts: next.interrupts.map(({ notification: { message, instruction, data } }) => ({
          message,
          ...defined({ instruction }),
          ...taskIn(data),
        })),
      };
    case 'paused':
      return {
        action: 'paused',
        message: `This conversation is paused until a person lifts the pause${liftedBy(lift)}.`,
        instruction: 'Finish your turn.',
      };
    case 'stop': {
      const { task, execution } = next;
      return {
        action: 'stop',
        task_id: task.id,
        message: whyStopped(task, execution),
        instruction: stopInstruction(task, nameOf(REPORT_TOOL)),
      };
    }
    case 'work': {
      const { id, title, description, priority } = next.task;
      return {
        action: 'work',
        task: { id, title, description, priority },
        execution: next.execution.id,
        ...(next.resumed ? { resumed: true } : {}),
        instruction: `Do this task, then call ${nameOf(REPORT_TOOL)}.`,
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

function saidReport({ kind, tasks, left }: Reported, nameOf: NameOf): object {
  const [goingOn] = left;
  const then = goingOn === undefined ? undefined : `Go on with ${goingOn.id}.`;
  const about = { success: true, tasks: tasks.map(({ id, status }) => ({ id, status })) };
  switch (kind) {
    case 'ended':
      return {
        ...about,
        message: 'The report is recorded.',
        instruction: then ?? `Call ${nameOf('get_next_action')} for the next task.`,
      };
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
        message: 'Nothing was ended: the reason to stop is resolved, and the task is in progress again.',
        instruction: `Go on with ${tasks.map(({ id }) => id).join(', ')}. If still blocked, report that again.`,
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

const propertiesOf = (tool: string): object => TASK_TOOLS.find(({ name }) => name === tool)?.inputSchema.properties ?? {};

function textsOf(
  { tool, args }: TaskCall,
  known: readonly string[],
  nameOf: NameOf,
): Readonly<Record<string, string | undefined>> {
  const given = withoutNulls((args ?? {}) as Record<string, unknown>);
  for (const [key, value] of Object.entries(given)) {
    if (!known.includes(key))
      throw new EarpieceError(
        'bad_argument',
        `${nameOf(tool)} has no argument ${JSON.stringify(key)}; valid arguments: ${known.length === 0 ? 'none' : known.join(', ').replace(/, ([^,]*)$/u, ' and $1')}`,
      );
    if (typeof value !== 'string') throw new EarpieceError('bad_argument', `${key} ${JSON.stringify(value)} must be a text`);
  }
  return given as Record<string, string | undefined>;
}
