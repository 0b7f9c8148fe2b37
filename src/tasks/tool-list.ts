/**
 * Lists the tools for tasks, and decides which conversations get the tools. `tools.ts` answers the calls. The two files are
 * separate, so that a process can list the tools without loading `tools.ts`.
 */
import { TASK_RESULTS } from '../core/task.ts';

export type TaskTool = {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: Readonly<Record<string, object>>;
    readonly required?: readonly string[];
    readonly additionalProperties: false;
  };
  /** MCP's hints for the tool. */
  readonly annotations: { readonly title: string; readonly readOnlyHint: boolean } & Readonly<Record<string, unknown>>;
};

/** The tool that the interrupts of tasks ask the agent to call. */
export const REPORT_TOOL = 'report_completed';

export const TASK_TOOLS: readonly TaskTool[] = [
  {
    name: 'get_next_action',
    description:
      'Returns your next action: work on a task (the call starts the task), stop work, or nothing to do. ' +
      'Call it at the start and after each report_completed.',
    inputSchema: { type: 'object', properties: {}, additionalProperties: false },
    annotations: { title: 'Get next action', readOnlyHint: false, idempotentHint: true, openWorldHint: false },
  },
  {
    name: REPORT_TOOL,
    description:
      'Reports the result of a task: "success" (done), "failed" (cannot be done), or "blocked" (something blocks the task, ' +
      'or you were told to stop). Call it once for each task.',
    inputSchema: {
      type: 'object',
      properties: {
        result: { type: 'string', enum: TASK_RESULTS },
        summary: { type: 'string', description: 'What was done, or what blocks the task' },
        task_id: { type: 'string', description: 'Only needed when you work on several tasks' },
      },
      required: ['result', 'summary'],
      additionalProperties: false,
    },
    annotations: { title: 'Report completed', readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  },
];

export const isTaskTool = (name: string): boolean => TASK_TOOLS.some((tool) => tool.name === name);

/**
 * Whether a new conversation gets the tools. A conversation with a purpose other than `task` never gets the tools. By default,
 * other conversations get them only if the project has or had tasks, because the tools cost tokens. `always` sets a fixed answer
 * for the other conversations. Call this function once for each conversation, because a changed list of tools invalidates the
 * agent's prompt cache.
 */
export async function offersTaskTools(of: {
  readonly purpose: string | undefined;
  readonly always: boolean | undefined;
  /** Whether the project has or had tasks. `offersTaskTools` calls this function only if the answer matters. */
  readonly any: () => Promise<boolean>;
}): Promise<boolean> {
  if (of.purpose !== undefined && of.purpose !== 'task') return false;
  return of.always ?? of.any();
}
