/** Names the agent whose words a notification contains. Pure. */
import type { Kind, Notification } from './notification.ts';

/** The tool that sends a message from one agent to another. */
export const TELL_TOOL = 'tell_agent';

/** The name of the agent that runs a command, if Earpiece does not know which agent this is. */
export const SOME_AGENT = 'an agent';

/**
 * Returns the name of the agent whose words the notification contains. For a message of `tell_agent`, the name has no project. A
 * command, a token or a program of an agent may send to any project, so its name is `origin.agent`, usually `project/agent`.
 */
export function tellerOf({ origin }: Pick<Notification, 'origin'>): string | undefined {
  if (origin === undefined || origin.person !== undefined) return undefined;
  if (origin.words) return origin.agent ?? SOME_AGENT;
  return origin.tool === TELL_TOOL ? origin.agent?.slice(origin.agent.indexOf('/') + 1) : undefined;
}

/** Whether the notification is a message of `tell_agent`, which the reader can answer by its id. */
export const usedTellAgent = ({ origin }: Pick<Notification, 'origin'>): boolean =>
  origin?.tool === TELL_TOOL && !origin.words && origin.person === undefined && origin.agent !== undefined;

/** Returns the kind that the model reads. An agent's words never have the source `user`, which would look like its person. */
export const kindRead = (notification: Pick<Notification, 'kind' | 'origin'>): Kind =>
  notification.kind.source === 'user' && tellerOf(notification) !== undefined
    ? { source: 'agent', name: notification.kind.name }
    : notification.kind;
