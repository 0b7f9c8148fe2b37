/** Notifications: the shapes of queueing, listing, receipts and actions. */
import { z } from '@hono/zod-openapi';
import type * as api from '../api.ts';
import { ACTIONS, LIMITS, MOMENTS, type NotificationInput } from '../../core/notification.ts';
import { PLAN_STEPS } from '../../core/plan.ts';
import { VERDICT_KINDS } from '../../core/verdict/kinds.ts';
import { time, nullable, text, json, level, force, next, given } from './base.ts';

export const notification = z
  .object({
    log: z.string(),
    conversation: nullable(z.string()),
    id: z.string(),
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
    person: nullable(z.string()),
    sender: nullable(z.string()),
    subscriber: nullable(z.string()),
    requeues: nullable(z.string()),
    count: z.number().int(),
    seq: z.number().int(),
    at: time,
    lastAt: time,
    expiresAt: nullable(time),
    state: z.enum(['open', 'offered', 'closed']),
    receipt: z.string(),
    markedBy: nullable(z.string()),
    outcome: nullable(z.string()),
    closedAt: nullable(time),
    gate: z.boolean(),
    offers: z.number().int(),
    takenBy: nullable(z.string()),
    carrier: nullable(z.string()),
  })
  .openapi('Notification') satisfies z.ZodType<api.NotificationView>;
export const notificationsPage = z
  .object({ items: z.array(notification), next, lookedBackTo: time.optional() })
  .openapi('NotificationsPage') satisfies z.ZodType<api.NotificationsPage>;

const decision = z
  .object({
    kind: z.enum(['take', 'keep', 'summarize', 'close']),
    id: z.string(),
    step: z.enum(PLAN_STEPS),
    reason: z.string(),
    outcome: z.string().optional(),
  })
  .openapi('Decision');

export const verdict = z
  .looseObject({ kind: z.enum(VERDICT_KINDS) })
  .openapi('Verdict', { description: 'one answer to why it was delivered, waits or ended; its other fields depend on the kind' });

const sent = z
  .object({
    seq: z.number().int(),
    at: time,
    record: z.string(),
    conversation: nullable(z.string()),
    point: nullable(z.string()),
    on: nullable(z.string()),
    format: nullable(z.string()),
    item: z.string(),
    text: z.string(),
    repeated: z.boolean(),
  })
  .openapi('Sent') satisfies z.ZodType<api.Sent>;

export const story = z
  .object({
    log: z.string(),
    id: z.string(),
    items: z.array(
      z.object({
        notification,
        verdict,
        steps: z.array(z.object({ at: time, seq: z.number().int(), what: z.string(), detail: nullable(z.string()) })),
        ended: nullable(z.object({ outcome: z.string(), by: z.string(), reason: z.string(), at: time })),
        now: z.array(z.object({ conversation: z.string(), decision })),
        sent: z.array(sent),
      }),
    ),
  })
  .openapi('Story');

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
  into: nullable(z.string()),
  to: z.array(z.string()),
};
export const queued = z.object(queuedShape).openapi('Queued') satisfies z.ZodType<api.QueuedReply>;
const effects = z.array(z.object({ address: z.string(), host: nullable(z.string()), force, says: z.string() }));
export const interrupted = z.object({ ...queuedShape, effects }).openapi('Interrupted') satisfies z.ZodType<api.InterruptReply>;

export const resumed = z
  .object({
    effects,
    lifted: z.array(
      z.object({
        log: z.string(),
        id: z.string(),
        conversation: nullable(z.string()),
        message: z.string(),
        person: nullable(z.string()),
        since: z.number(),
      }),
    ),
  })
  .openapi('Resumed') satisfies z.ZodType<api.ResumeReply>;

export const withdrawn = z
  .object({ id: z.string(), result: z.enum(['withdrawn', 'maybe_seen', 'gate_lowered', 'too_late', 'unknown']) })
  .openapi('Withdrawn') satisfies z.ZodType<api.WithdrawReply>;

export const receipt = z
  .object({ id: z.string(), receipt: z.string(), reached: z.boolean(), settled: z.boolean() })
  .openapi('Receipt') satisfies z.ZodType<api.ReceiptReply>;
