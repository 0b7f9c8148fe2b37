/** Makes the task tools of Earpiece's own agent. These tools act only for the agent's own conversation. */
import { EarpieceError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import type { Tool } from '../handles/tool.ts';
import { answerTask, TASK_TOOLS, Tasks } from '../tasks/index.ts';
import type { Agent } from './agent.ts';

/**
 * Makes the task tools. `agent` may be called only after the agent exists. `offersTaskTools` decides at the start of a
 * conversation whether the agent gets these tools.
 */
export const taskTools = (agent: () => Agent): readonly Tool[] =>
  TASK_TOOLS.map(({ name, description, inputSchema }): Tool => ({
    name,
    description,
    inputSchema: inputSchema as unknown as { readonly [key: string]: Json },
    async execute(args) {
      const { conversation } = agent();
      try {
        const { body } = await answerTask(new Tasks(conversation.inbox), conversation, { tool: name, args }, { rides: true });
        return { content: JSON.stringify(body) };
      } catch (error) {
        if (!(error instanceof EarpieceError)) throw error;
        return { content: error.message, isError: true };
      }
    },
  }));
