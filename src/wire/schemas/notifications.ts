/** The schemas of notifications: queueing, listing, receipts and actions. */
import { z } from 'zod';
import { ACTIONS, LIMITS, MOMENTS, type NotificationInput } from '../../core/notification.ts';
import { PLAN_STEPS } from '../../core/plan.ts';
import { ALL_RECEIPTS } from '../../core/receipts.ts';
import { VERDICT_KINDS } from '../../core/verdict/kinds.ts';
import { time, nullable, text, personName, json, level, force, next, given } from './base.ts';

export const notification = z
  .object({
    log: z.string(),
    conversation: nullable(z.string()).describe(
      'the conversation that the notification is for; null: the first conversation of the agent that can deliver the notification',
    ),
    id: z.string(),
    kind: z.string().describe('`source.name`'),
    level,
    message: z.string(),
    data: json,
    action: nullable(z.enum(ACTIONS)),
    instruction: nullable(z.string()),
    key: nullable(z.string()),
    about: nullable(z.string()),
    purpose: nullable(z.string()),
    deliver: json,
    person: nullable(z.string()).describe('the person who sent the notification, if a person did'),
    sender: nullable(z.string()).describe('the agent that sent the notification, if an agent did'),
    subscriber: nullable(z.string()).describe('the subscriber that made the notification'),
    requeues: nullable(z.string()),
    count: z.number().int().describe('the number of occurrences, including folded notifications'),
    seq: z.number().int(),
    at: time,
    lastAt: time,
    expiresAt: nullable(time),
    state: z.enum(['open', 'offered', 'closed']),
    receipt: z.enum(ALL_RECEIPTS),
    markedBy: nullable(z.string()).describe(
      'the person who marked the notification as read, until there is proof that the agent has read the notification. `markedBy()` of the client library makes a text from this field',
    ),
    outcome: nullable(z.string()),
    closedAt: nullable(time),
    gate: z.boolean().describe('whether the notification keeps the gate of its conversations up'),
    offers: z.number().int(),
    takenBy: nullable(z.string()).describe('the conversation whose carrier took the notification'),
    carrier: nullable(z.string()),
  })
  .openapi('Notification');
export const notificationsPage = z
  .object({
    items: z.array(notification),
    next,
    lookedBackTo: time
      .optional()
      .describe(
        'set by a search for words: the time of the oldest notification that was searched, epoch milliseconds; missing if all were searched',
      ),
  })
  .openapi('NotificationsPage');

export const endCause = z
  .looseObject({ kind: z.string() })
  .openapi('EndCause')
  .describe('the cause of the end, for programs: a setting, a mute, a newer notification; the other fields depend on the kind');

export const decision = z
  .object({
    kind: z.enum(['take', 'keep', 'summarize', 'close']),
    id: z.string(),
    step: z.enum(PLAN_STEPS),
    cause: z
      .looseObject({ kind: z.string() })
      .optional()
      .describe('the cause, for programs: a limit, a moment, a setting, a newer notification; missing for `take`'),
    reason: z.string().describe('the cause in words, for a person; a release may change the words'),
    outcome: z.string().optional(),
  })
  .openapi('Decision');

export const verdict = z
  .looseObject({ kind: z.enum(VERDICT_KINDS) })
  .openapi('Verdict')
  .describe('why the notification was delivered, waits or ended; the other fields depend on the kind');

export const sent = z
  .object({
    seq: z.number().int(),
    at: time,
    record: z
      .string()
      .describe('the type of the carrying record: `carrier_offered`, `tool_call_response`, `chat_request`, `gate_refused`'),
    conversation: nullable(z.string()),
    point: nullable(z.string()).describe('the contact point, such as `tool_result` or `turn_start`'),
    on: nullable(z.string()).describe('the tool or the hook whose message carried the notification'),
    format: nullable(z.string()),
    item: z.string().describe('the line of this notification'),
    text: z.string().describe('the whole text with all notifications in it'),
    repeated: z.boolean(),
  })
  .openapi('Sent');

export const storyItem = z.object({
  notification,
  verdict,
  steps: z.array(
    z.object({
      at: time,
      seq: z.number().int(),
      what: z.string().describe('the step in words, for a person'),
      detail: nullable(z.string()).describe('more words, for a person'),
      call: nullable(z.string()).describe('the id of the tool call whose result carried the notification'),
    }),
  ),
  ended: nullable(
    z.object({ outcome: z.string(), by: z.string(), cause: endCause.optional(), reason: z.string(), at: time }),
  ).describe(
    'for a notification that ended undelivered: the outcome, and the plan step, person or process that closed the notification',
  ),
  now: z
    .array(z.object({ conversation: z.string(), decision }))
    .describe("for an open notification: the decision that each conversation's carrier would make now"),
  sent: z
    .array(sent)
    .describe(
      'the texts that were made for the model, one for each of the last 300 records. These records offered or sent the notification, or refused a call with it. The model may not have got the text of a released offer.',
    ),
});
export const story = z.object({ log: z.string(), id: z.string(), items: z.array(storyItem) }).openapi('Story');

const deliver = z
  .union([
    z.enum(MOMENTS),
    z.strictObject({ at: z.number() }).describe('at a time, epoch milliseconds'),
    z.strictObject({ inMs: z.number().min(0) }).describe('after this many milliseconds, by the clock of this server'),
    z.strictObject({ afterTurns: z.number().int().min(1) }).describe('after this many turns'),
    z.strictObject({ afterTool: z.string().regex(/^\S{1,256}$/) }).describe('with the result of this tool'),
  ])
  .openapi('Deliver');

/** Checks only the types on which `makeNotification` relies. `makeNotification` checks everything else. */
export const notificationInput = z
  .strictObject({
    to: text(400).openapi({ description: 'project/agent, project/agent#conversation or project/*', example: 'shop/coder' }),
    id: text(LIMITS.idChars).optional(),
    kind: z.string().max(200).optional().openapi({ description: 'source.name', example: 'ci.failed' }),
    level: level.optional(),
    message: z.string(),
    data: z.unknown().optional().describe('any JSON'),
    key: z.string().optional(),
    supersede: z
      .boolean()
      .optional()
      .describe('with `key`: replaces older notifications of the key that the same sender also queued with supersede'),
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
      .optional()
      .describe(
        "the sender; the model reads the text in quotation marks, as the words of `person`, or else of `agent`. Default: with an agent's token that agent; in a browser's session the person who logged this browser in",
      ),
  })
  .openapi('NotificationInput');
export type NotificationBody = z.output<typeof notificationInput>;

export const toInput = (body: NotificationBody): NotificationInput => {
  const { to: _to, origin, ...rest } = body;
  return { ...given(rest), ...(origin === undefined ? {} : { origin: given(origin) }) } as NotificationInput;
};

export const messageInput = z
  .strictObject({
    content: z.string().max(LIMITS.messageChars).describe("the person's message"),
    author: personName(LIMITS.idChars).optional(),
    level: level.optional(),
    deliver: deliver.optional(),
  })
  .openapi('MessageInput');

export const interruptInput = z
  .strictObject({
    action: z.enum(['cancel', 'pause']),
    message: text(LIMITS.messageChars).optional(),
    instruction: text(LIMITS.instructionChars).optional(),
    author: personName(LIMITS.idChars).optional(),
  })
  .openapi('InterruptInput');

export const resumeInput = z
  .strictObject({
    to: text(400).openapi({
      description: 'project/agent, project/agent#conversation, or project/* for all pauses of the project',
      example: 'shop/coder',
    }),
    message: text(LIMITS.messageChars).optional().describe('the text for the agent; default: Go on.'),
    author: personName(LIMITS.idChars)
      .optional()
      .describe('the person who lifts the pause; default: the name of the token, or the person who logged this browser in'),
  })
  .openapi('ResumeInput');

const queuedShape = {
  kind: z.enum(['queued', 'folded', 'duplicate']),
  id: z.string(),
  into: nullable(z.string()).describe('the open notification that counts this notification'),
  to: z.array(z.string()),
  loweredTo: nullable(level).describe(
    'the level to which the notification was lowered, because the token allows no higher level',
  ),
};
export const queued = z.object(queuedShape).openapi('Queued');

export const effect = z.object({
  address: z.string(),
  host: nullable(z.string()),
  force,
  says: z.string().describe('the effect in words, for a person'),
});
export const interrupted = z.object({ ...queuedShape, effects: z.array(effect) }).openapi('Interrupted');

export const lifted = z.object({
  log: z.string(),
  id: z.string(),
  conversation: nullable(z.string()).describe("null if no conversation got the agent's pause"),
  message: z.string(),
  person: nullable(z.string()).describe('the person who paused the agent; null if no person did'),
  since: z.number().describe('when the pause was queued, epoch ms'),
  notified: z
    .boolean()
    .describe('whether the conversation gets a notification of the resume; false if the model never saw the pause'),
});
export const resumed = z.object({ effects: z.array(effect), lifted: z.array(lifted) }).openapi('Resumed');

export const withdrawn = z
  .object({
    id: z.string(),
    result: z.enum(['withdrawn', 'maybe_seen', 'gate_lowered', 'too_late', 'folded', 'unknown']),
    into: z.string().optional().describe('with `folded`: the notification that counts this notification'),
  })
  .openapi('Withdrawn');

export const receipt = z
  .object({
    id: z.string(),
    receipt: z.enum(ALL_RECEIPTS),
    reached: z.boolean().describe('whether the notification has the requested receipt'),
    settled: z
      .boolean()
      .describe('whether the notification has the receipt or can no longer get it, so that a longer wait would not help'),
  })
  .openapi('Receipt');
