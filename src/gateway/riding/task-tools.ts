/** The tools for tasks as the gateway lists and answers them: a connection may say by a token for whom it speaks. */
import type { Conversation } from '../../inbox/index.ts';
import type { TaskAnswer } from '../../tasks/index.ts';
import { isTaskTool, TASK_TOOLS } from '../../tasks/tool-list.ts';
import type { OwnCall, OwnTool } from './rider.ts';

export { isTaskTool };

export const SESSION_TOKEN = {
  type: 'string',
  description: 'Leave it out, unless get_notifications has given you one',
};

export const GATEWAY_TASK_TOOLS: readonly OwnTool[] = TASK_TOOLS.map((tool) => ({
  ...tool,
  inputSchema: { ...tool.inputSchema, properties: { ...tool.inputSchema.properties, session_token: SESSION_TOKEN } },
}));

/** Throws what the agent did wrong, as a sentence for it. */
export async function answerTaskCall(conversation: Conversation, call: OwnCall): Promise<TaskAnswer> {
  // Loaded by the first call: few gateways ever answer one.
  const { answerTask, Tasks } = await import('../../tasks/index.ts');
  return answerTask(new Tasks(conversation.inbox), conversation, call, { also: ['session_token'] });
}

/** Whoever speaks for a conversation says so by its token. */
export const tokenOf = ({ args }: OwnCall): unknown => (args as { session_token?: unknown } | null | undefined)?.session_token;
