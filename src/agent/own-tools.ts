/** The tools that an agent of ours has besides what it is given: reading, noting for itself, telling its user. */
import type { Json } from '../core/json.ts';
import type { Level } from '../core/notification.ts';
import type { Tool, ToolOutcome } from '../sources/tool.ts';
import type { Agent } from './agent.ts';

const CATEGORIES = {
  discovery: 'DISCOVERY',
  warning: 'WARN',
  checkpoint: 'CHECKPOINT',
  reminder: 'REMINDER',
  context: 'NOTE',
} as const;
const PRIORITIES: Readonly<Record<string, Level>> = { low: 'info', normal: 'info', high: 'warning', critical: 'error' };
const DELIVER = { immediate: 'now', next_turn: 'next_cycle', after_tool: 'after_tool' } as const;

export type OwnToolOptions = {
  /** Known only after the agent is made. */
  readonly agent: () => Agent;
  /** Shows a message to the person at once. Without it there is no `tell_user`. */
  readonly tellUser?: (message: string) => void;
};

export function ownTools({ agent, tellUser }: OwnToolOptions): readonly Tool[] {
  return [getNotifications(agent), notifySelf(agent), ...(tellUser ? [tellUserTool(tellUser)] : [])];
}

const getNotifications = (agent: () => Agent): Tool => ({
  name: 'get_notifications',
  description:
    'Returns notifications that were only summarized to you, or that still wait, newest first, and marks them as read.',
  inputSchema: { type: 'object', properties: { mark_as_read: { type: 'boolean', default: true } }, additionalProperties: false },
  async execute(args) {
    const mark = (args as { mark_as_read?: boolean }).mark_as_read ?? true;
    const { notifications, more, withheld, offer } = await agent().conversation.pull({ mark });
    // The result goes into our own transcript next: that is its delivery.
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

const notifySelf = (agent: () => Agent): Tool => ({
  name: 'notify_self',
  description:
    'Leaves a note for yourself that comes back later: a discovery, a warning, a checkpoint, a reminder, context. Not for what stands in the conversation anyway. ' +
    'With persist_cross_session it outlives this conversation; use that sparingly.',
  inputSchema: {
    type: 'object',
    properties: {
      message: { type: 'string' },
      category: { type: 'string', enum: Object.keys(CATEGORIES), default: 'context' },
      priority: { type: 'string', enum: Object.keys(PRIORITIES), default: 'normal' },
      deliver_at: {
        type: 'string',
        description: 'immediate, next_turn, after_tool, after:<turns> turns, or an ISO 8601 time',
        default: 'next_turn',
      },
      persist_cross_session: { type: 'boolean', default: false },
    },
    required: ['message'],
    additionalProperties: false,
  },
  async execute(args): Promise<ToolOutcome> {
    const {
      message,
      category = 'context',
      priority = 'normal',
      deliver_at: when = 'next_turn',
      persist_cross_session: persist = false,
    } = args as Record<string, Json>;
    const wrong = (what: string): ToolOutcome => ({ content: what, isError: true });
    if (typeof message !== 'string' || message.trim() === '') return wrong('message needs a text that is not blank');
    if (typeof category !== 'string' || !Object.hasOwn(CATEGORIES, category))
      return wrong(`category ${JSON.stringify(category)} is not one of ${Object.keys(CATEGORIES).join(', ')}`);
    if (typeof priority !== 'string' || !Object.hasOwn(PRIORITIES, priority))
      return wrong(`priority ${JSON.stringify(priority)} is not one of ${Object.keys(PRIORITIES).join(', ')}`);
    const deliver = deliverOf(when);
    if (deliver === undefined)
      return wrong(
        `deliver_at ${JSON.stringify(when)} is not immediate, next_turn, after_tool, after:<turns> or an ISO 8601 time`,
      );
    const { inbox, conversation } = agent();
    const level = PRIORITIES[priority] ?? 'info';
    const tag = `[${CATEGORIES[category as keyof typeof CATEGORIES]}${priority === 'high' || priority === 'critical' ? '!' : ''}]`;
    const queued = await inbox.queue(persist === true ? conversation.log : conversation.address, {
      kind: category === 'reminder' ? 'agent.remind' : 'agent.notify',
      level,
      message: `${tag} ${message}`,
      deliver,
      ttlMs: 24 * 3_600_000,
      data: { category, priority },
      origin: agent().origin(),
    });
    return { content: JSON.stringify({ queued: queued.id, deliver_at: when, priority, category, persisted: persist === true }) };
  },
});

function deliverOf(when: Json): 'now' | 'next_cycle' | 'after_tool' | { afterTurns: number } | { at: number } | undefined {
  if (typeof when !== 'string') return undefined;
  if (Object.hasOwn(DELIVER, when)) return DELIVER[when as keyof typeof DELIVER];
  const turns = /^after:(\d{1,4})( turns?)?$/.exec(when)?.[1];
  if (turns !== undefined) return Number(turns) > 0 ? { afterTurns: Number(turns) } : undefined;
  const at = /^\d{4}-\d\d-\d\dT/.test(when) ? Date.parse(when) : Number.NaN;
  return Number.isNaN(at) ? undefined : { at };
}

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
