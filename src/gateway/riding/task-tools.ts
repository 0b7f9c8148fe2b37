/** Lists the tools for tasks, and answers their calls. With `session_token`, a connection acts for another conversation. */
import type { Conversation } from '../../inbox/index.ts';
import type { TaskAnswer } from '../../tasks/index.ts';
import { isTaskTool, TASK_TOOLS } from '../../tasks/tool-list.ts';
import type { OwnCall, OwnTool } from './rider.ts';

export { isTaskTool };

export const SESSION_TOKEN = {
  type: 'string',
  description: 'Leave out, unless get_notifications has given you a token',
};

export const GATEWAY_TASK_TOOLS: readonly OwnTool[] = TASK_TOOLS.map((tool) => ({
  ...tool,
  inputSchema: { ...tool.inputSchema, properties: { ...tool.inputSchema.properties, session_token: SESSION_TOKEN } },
}));

/** Answers a call of a task tool. If the agent made a mistake, throws an error that names the mistake. */
export async function answerTaskCall(conversation: Conversation, call: OwnCall): Promise<TaskAnswer> {
  // The first call loads this code, because few gateways need it.
  const { answerTask, Tasks } = await import('../../tasks/index.ts');
  return answerTask(new Tasks(conversation.inbox), conversation, call, { also: ['session_token'] });
}

/** Returns the argument `session_token`: the token of the conversation that the caller acts for. */
export const tokenOf = ({ args }: OwnCall): unknown =>
  (args as { session_token?: unknown } | null | undefined)?.session_token ?? undefined;
