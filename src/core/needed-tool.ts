/** Words an instruction for an agent that has, or lacks, the Earpiece tool that the instruction asks for. */
import type { Notification } from './notification.ts';

/**
 * Returns the notification as an agent with these Earpiece tools reads it. An agent without the tool in `needs` reads the text
 * `otherwise` as instruction. `nameOf` returns the agent's name for a tool.
 */
export function readBy(
  notification: Notification,
  has: readonly string[],
  nameOf: (tool: string) => string = (tool) => tool,
): Notification {
  const { needs, ...rest } = notification;
  if (needs === undefined) return notification;
  if (!has.includes(needs.tool)) return { ...rest, instruction: needs.otherwise };
  if (rest.instruction === undefined) return rest;
  return { ...rest, instruction: namingTool(rest.instruction, needs.tool, nameOf(needs.tool)) };
}

/** Replaces a tool's name in the text wherever it is a whole word. */
export function namingTool(text: string, tool: string, name: string): string {
  if (name === tool || tool === '') return text;
  const inName = (sign: string | undefined): boolean => sign !== undefined && /[\w-]/.test(sign);
  const [first = '', ...others] = text.split(tool);
  return others.reduce((told, next) => told + (inName(told.at(-1)) || inName(next[0]) ? tool : name) + next, first);
}
