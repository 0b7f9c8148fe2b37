/** Makes the built-in tools of Earpiece's agent: reading its notifications, notes for itself, messages to its user. */
import type { Tool } from '../handles/tool.ts';
import type { Agent } from './agent.ts';
import { notifySelf } from './notify-self.ts';

export type OwnToolOptions = {
  /** Returns the agent. Called only after the agent exists. */
  readonly agent: () => Agent;
  /** Shows a message to the person at once. Without this function, the agent has no tool `tell_user`. */
  readonly tellUser?: (message: string) => void;
};

export function ownTools({ agent, tellUser }: OwnToolOptions): readonly Tool[] {
  return [getNotifications(agent), notifySelf(agent), ...(tellUser ? [tellUserTool(tellUser)] : [])];
}

const getNotifications = (agent: () => Agent): Tool => ({
  name: 'get_notifications',
  description: 'Returns notifications that you saw only in summary, or not yet, newest first, and marks them as read.',
  inputSchema: { type: 'object', properties: { mark_as_read: { type: 'boolean', default: true } }, additionalProperties: false },
  async execute(args) {
    const mark = (args as { mark_as_read?: boolean }).mark_as_read ?? true;
    const { notifications, more, withheld, offer } = await agent().conversation.pull({ mark });
    // The offer is confirmed at once, because the agent writes the result to its transcript next.
    await offer?.confirm();
    return {
      content: JSON.stringify({
        success: true,
        count: notifications.length,
        notifications,
        ...(more > 0 ? { more } : {}),
        ...(withheld.length > 0 ? { withheld_results: withheld } : {}),
      }),
    };
  },
});

const tellUserTool = (tellUser: (message: string) => void): Tool => ({
  name: 'tell_user',
  description: 'Shows a short message to the person now, in the middle of your work, without ending your turn.',
  inputSchema: {
    type: 'object',
    properties: { message: { type: 'string' } },
    required: ['message'],
    additionalProperties: false,
  },
  async execute(args) {
    const { message } = args as { message?: unknown };
    if (typeof message !== 'string' || message.trim() === '')
      return { content: 'message needs a text that is not blank', isError: true };
    tellUser(message);
    return { content: 'shown' };
  },
});
