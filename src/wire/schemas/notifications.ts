/** Notifications: the shapes of queueing, listing, receipts and actions. */
import { z } from 'zod';
import { ACTIONS, LIMITS, MOMENTS, type NotificationInput } from '../../core/notification.ts';
import { PLAN_STEPS, type Decision } from '../../core/plan.ts';
import { VERDICT_KINDS, type Verdict } from '../../core/verdict/kinds.ts';
import { time, nullable, text, json, level, force, next, given, ofCore, type Wire } from './base.ts';

export const notification = z
  .object({
    log: z.string(),
    /** Its audience. Null: the agent's first conversation that carries. */
    conversation: nullable(z.string()),
    id: z.string(),
    /** `source.name`. */
    kind: z.string(),
    level,
    message: z.string(),
    data: json,
    action: nullable(z.enum(ACTIONS)),
    instruction: nullable(z.string()),
    key: nullable(z.string()),
    about: nullable(z.string()),
    purpose: nullable(z.string()),
    deliver: json,
    /** The person who sent it, if one did. */
    person: nullable(z.string()),
    /** The agent that sent it, if one did. */
    sender: nullable(z.string()),
    /** The subscriber that made it. */
    subscriber: nullable(z.string()),
    requeues: nullable(z.string()),
    /** The number of all, folded ones included. */
    count: z.number().int(),
    seq: z.number().int(),
    at: time,
    lastAt: time,
    expiresAt: nullable(time),
    state: z.enum(['open', 'offered', 'closed']),
    /** `queued`, `offered`, `delivered`, `observed`, `read`, `maybe_seen`, or its outcome. */
    receipt: z.string(),
    /** The person who marked it read, as long as nothing proves that the agent has read it. The client's `markedBy` words this. */
    markedBy: nullable(z.string()),
    outcome: nullable(z.string()),
    closedAt: nullable(time),
    /** It holds the gate of its conversations up. */
    gate: z.boolean(),
    offers: z.number().int(),
    /** The conversation whose carrier took it. */
    takenBy: nullable(z.string()),
    carrier: nullable(z.string()),
  })
  .openapi('Notification');
export type NotificationView = Wire<typeof notification>;
export type NotificationState = NotificationView['state'];
export const notificationsPage = z
  .object({
    items: z.array(notification),
    next,
    /** For a page of a word search: the time of the oldest searched notification. Missing if all were searched. */
    lookedBackTo: time.optional(),
  })
  .openapi('NotificationsPage');
export type NotificationsPage = Wire<typeof notificationsPage>;

const decision = ofCore<Decision>(
  z
    .object({
      kind: z.enum(['take', 'keep', 'summarize', 'close']),
      id: z.string(),
      step: z.enum(PLAN_STEPS),
      reason: z.string(),
      outcome: z.string().optional(),
    })
    .openapi('Decision'),
);

export const verdict = ofCore<Verdict>(
  z.looseObject({ kind: z.enum(VERDICT_KINDS) }).openapi('Verdict', {
    description: 'one answer to why it was delivered, waits or ended; its other fields depend on the kind',
  }),
);

const sent = z
  .object({
    seq: z.number().int(),
    at: time,
    /** The record that carried: `carrier_offered`, `tool_call_response`, `chat_request`, `gate_refused`. */
    record: z.string(),
    conversation: nullable(z.string()),
    /** `tool_result`, `turn_start` … */
    point: nullable(z.string()),
    /** The tool or the hook whose message carried it. */
    on: nullable(z.string()),
    format: nullable(z.string()),
    /** The line of this notification. */
    item: z.string(),
    /** The whole text with all notifications in it. */
    text: z.string(),
    repeated: z.boolean(),
  })
  .openapi('Sent');
export type Sent = Wire<typeof sent>;

const storyItem = z.object({
  notification,
  /** One answer to why it was delivered, waits or ended. */
  verdict,
  steps: z.array(z.object({ at: time, seq: z.number().int(), what: z.string(), detail: nullable(z.string()) })),
  /** For one that ended undelivered: the step of the plan, or the person or process that closed it. */
  ended: nullable(z.object({ outcome: z.string(), by: z.string(), reason: z.string(), at: time })),
  /** For an open one: the current decision of a carrier for each conversation. */
  now: z.array(z.object({ conversation: z.string(), decision })),
  /** The exact texts that the model was sent, each time. */
  sent: z.array(sent),
});
export type StoryItem = Wire<typeof storyItem>;
export const story = z.object({ log: z.string(), id: z.string(), items: z.array(storyItem) }).openapi('Story');
/** The history of a notification and its reasons, for each audience. */
export type Story = Wire<typeof story>;

const deliver = z
  .union([
    z.enum(MOMENTS),
    z.strictObject({ at: z.number() }).openapi({ description: 'at a time, epoch milliseconds' }),
    z
      .strictObject({ inMs: z.number().min(0) })
      .openapi({ description: 'after so many milliseconds, by the clock of this server' }),
    z.strictObject({ afterTurns: z.number().int().min(1) }).openapi({ description: 'after so many turns' }),
    z.strictObject({ afterTool: z.string().regex(/^\S{1,256}$/) }).openapi({ description: 'with the result of this tool' }),
  ])
  .openapi('Deliver');

/** Checks only the assumptions of `makeNotification`, which checks the rest. */
export const notificationInput = z
  .strictObject({
    to: text(400).openapi({ description: 'project/agent, project/agent#conversation or project/*', example: 'shop/coder' }),
    id: text(LIMITS.idChars).optional(),
    kind: z.string().max(200).optional().openapi({ description: 'source.name', example: 'ci.failed' }),
    level: level.optional(),
    message: z.string(),
    data: z.unknown().optional().openapi({ description: 'any JSON' }),
    key: z.string().optional(),
    supersede: z.boolean().optional(),
    about: z.string().optional(),
    expiresAt: z.number().nullable().optional(),
    ttlMs: z.number().optional(),
    deliver: deliver.optional(),
    action: z.enum(ACTIONS).optional(),
    instruction: z.string().optional(),
    purpose: z.string().optional(),
    count: z.number().int().optional(),
    firstAt: z.number().optional(),
    origin: z
      .strictObject({
        agent: z.string().optional(),
        tool: z.string().optional(),
        person: z.string().optional(),
        cause: z.string().optional(),
        depth: z.number().int().min(0).max(100).optional(),
      })
      .optional(),
  })
  .openapi('NotificationInput');
export type NotificationBody = z.output<typeof notificationInput>;

export const toInput = (body: NotificationBody): NotificationInput => {
  const { to: _to, origin, ...rest } = body;
  return { ...given(rest), ...(origin === undefined ? {} : { origin: given(origin) }) } as NotificationInput;
};

export const messageInput = z
  .strictObject({
    content: z.string().max(LIMITS.messageChars).openapi({ description: 'what the person says' }),
    author: text(LIMITS.idChars).optional(),
    level: level.optional(),
    deliver: deliver.optional(),
  })
  .openapi('MessageInput');

export const interruptInput = z
  .strictObject({
    action: z.enum(['cancel', 'pause']),
    message: text(LIMITS.messageChars).optional(),
    instruction: text(LIMITS.instructionChars).optional(),
    author: text(LIMITS.idChars).optional(),
  })
  .openapi('InterruptInput');

export const resumeInput = z
  .strictObject({
    to: text(400).openapi({
      description: 'project/agent, project/agent#conversation, or project/* for everything that is paused in the project',
      example: 'shop/coder',
    }),
    message: text(LIMITS.messageChars).optional().openapi({ description: 'what the agent reads; default: Go on.' }),
    author: text(LIMITS.idChars).optional().openapi({ description: 'who lifts it; default: whose token it is' }),
  })
  .openapi('ResumeInput');

const queuedShape = {
  kind: z.enum(['queued', 'folded', 'duplicate']),
  id: z.string(),
  /** The open notification that counts this one. */
  into: nullable(z.string()),
  to: z.array(z.string()),
};
export const queued = z.object(queuedShape).openapi('Queued');
export type QueuedReply = Wire<typeof queued>;

const effect = z.object({
  address: z.string(),
  host: nullable(z.string()),
  force,
  /** In words, for a person. */
  says: z.string(),
});
export type Effect = Wire<typeof effect>;
export const interrupted = z.object({ ...queuedShape, effects: z.array(effect) }).openapi('Interrupted');
export type InterruptReply = Wire<typeof interrupted>;

const lifted = z.object({
  log: z.string(),
  id: z.string(),
  /** Null: a pause of the agent that no conversation has taken. */
  conversation: nullable(z.string()),
  message: z.string(),
  /** The person who paused; null if no person did. */
  person: nullable(z.string()),
  /** Epoch ms. */
  since: z.number(),
});
export type LiftedPause = Wire<typeof lifted>;
export const resumed = z.object({ effects: z.array(effect), lifted: z.array(lifted) }).openapi('Resumed');
/** Empty if nothing was paused. */
export type ResumeReply = Wire<typeof resumed>;

export const withdrawn = z
  .object({ id: z.string(), result: z.enum(['withdrawn', 'maybe_seen', 'gate_lowered', 'too_late', 'unknown']) })
  .openapi('Withdrawn');
export type WithdrawReply = Wire<typeof withdrawn>;

export const receipt = z
  .object({
    id: z.string(),
    receipt: z.string(),
    /** It has the requested receipt. */
    reached: z.boolean(),
    /** It has the receipt or ended otherwise: waiting longer changes nothing. */
    settled: z.boolean(),
  })
  .openapi('Receipt');
export type ReceiptReply = Wire<typeof receipt>;
