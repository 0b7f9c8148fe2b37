/** The shapes of `core/api.ts` as schemas: the same ones validate what comes in and make the OpenAPI document. */
import { z } from '@hono/zod-openapi';
import type * as api from '../core/api.ts';
import { FORCES, TOKEN_KINDS } from '../core/api.ts';
import { SEVERITIES } from '../core/event.ts';
import { ACTIONS, LEVELS, LIMITS, MOMENTS, type NotificationInput } from '../core/notification.ts';
import { PLAN_STEPS } from '../core/plan.ts';
import { INTERRUPTIONS, TASK_LIMITS, TASK_PRIORITIES, TASK_RESULTS, TASK_STATUSES, type TaskExecution } from '../core/task.ts';

/** An input without the keys that were left out: JSON and query strings cannot say undefined. */
export type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
export const given = <T extends object>(value: T): Given<T> =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Given<T>;

const time = z.number().openapi({ description: 'epoch milliseconds' });
const nullable = <T extends z.ZodType>(schema: T): z.ZodNullable<T> => schema.nullable();
const text = (max: number): z.ZodString => z.string().min(1).max(max);
const anyJson = z.unknown().openapi({ description: 'any JSON' });
const json = anyJson as unknown as z.ZodType<never>;

export const level = z.enum(LEVELS).openapi({ description: 'info, warning, error; critical interrupts' });
export const logParam = text(300).openapi({ description: 'an agent: project/agent', example: 'shop/coder' });
export const nameParam = text(128);

const counts = z
  .object({ info: z.number(), warning: z.number(), error: z.number(), critical: z.number() })
  .openapi('Counts') satisfies z.ZodType<api.Counts>;

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string().openapi({ description: 'what is wrong, the value seen, and the way out' }),
    code: z.string().openapi({ description: 'stable, for programs' }),
    instance: z.string(),
    field: z.string().optional(),
    retryable: z.boolean().optional(),
  })
  .openapi('Problem');

export const force = z.enum(FORCES);

const conversation = z
  .object({
    conversation: z.string(),
    address: z.string(),
    purpose: nullable(z.string()),
    host: nullable(z.string()),
    hostVersion: nullable(z.string()),
    active: z.boolean(),
    startedAt: time,
    seenAt: time,
    carriedAt: nullable(time),
    endedAt: nullable(time),
    turns: z.number().int(),
    carriers: z.array(z.object({ name: z.string(), at: time })),
    pulls: z.boolean(),
    force,
  })
  .openapi('Conversation') satisfies z.ZodType<api.ConversationSummary>;

const doing = z
  .object({
    kind: z.enum(['tool', 'thinking', 'nothing']),
    what: nullable(z.string()),
    since: nullable(time),
    conversation: nullable(z.string()),
  })
  .openapi('Doing') satisfies z.ZodType<api.Doing>;

const agent = z
  .object({
    log: z.string(),
    project: z.string(),
    agent: z.string(),
    open: counts,
    oldestOpenAt: nullable(time),
    active: z.boolean(),
    paused: z.boolean(),
    doing,
    lastContactAt: nullable(time),
    hosts: z.array(z.string()),
    conversations: z.array(conversation),
  })
  .openapi('Agent') satisfies z.ZodType<api.AgentSummary>;

const next = nullable(z.string()).openapi({ description: 'for the next page; null: that was all' });
export const agentsPage = z.object({ items: z.array(agent), next }).openapi('AgentsPage') satisfies z.ZodType<
  api.Page<api.AgentSummary>
>;
export const conversationsPage = z
  .object({ items: z.array(conversation), next })
  .openapi('ConversationsPage') satisfies z.ZodType<api.Page<api.ConversationSummary>>;

export const record = z
  .object({
    seq: z.number().int(),
    log: z.string(),
    at: time,
    body: z.looseObject({ type: z.string() }).openapi({ description: 'the record as it was appended' }),
  })
  .openapi('Record');
export const recordsPage = z.object({ items: z.array(record), next, head: z.number().int() }).openapi('RecordsPage');

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

export const forks = z
  .object({
    origin: nullable(z.object({ conversation: z.string(), upTo: z.number().int() })),
    forks: z.array(
      z.object({ conversation: z.string(), upTo: z.number().int(), at: time }).openapi('Fork') satisfies z.ZodType<api.Fork>,
    ),
    more: z.boolean(),
    turns: nullable(z.number().int()),
  })
  .openapi('Forks') satisfies z.ZodType<api.ForksReply>;

export const wordsQuery = z
  .string()
  .max(200)
  .refine((text) => text.trim() !== '', 'is blank; write a word to look for')
  .openapi({ description: 'words; all of them are in what is found, in any order and whatever their case' });
export const searchPage = z
  .object({
    items: z.array(
      z
        .object({
          seq: z.number().int(),
          at: time,
          type: z.string(),
          conversation: nullable(z.string()),
          name: nullable(z.string()),
          id: nullable(z.string()),
          text: z.string(),
        })
        .openapi('Hit') satisfies z.ZodType<api.Hit>,
    ),
    looked: z.number().int(),
    lookedBackTo: nullable(time),
    next,
  })
  .openapi('SearchPage') satisfies z.ZodType<api.SearchPage>;

const decision = z
  .object({
    kind: z.enum(['take', 'keep', 'summarize', 'close']),
    id: z.string(),
    step: z.enum(PLAN_STEPS),
    reason: z.string(),
    outcome: z.string().optional(),
  })
  .openapi('Decision');

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
    z.strictObject({ afterTurns: z.number().int().min(1) }).openapi({ description: 'after so many turns' }),
    z.strictObject({ afterTool: z.string().regex(/^\S{1,256}$/) }).openapi({ description: 'with the result of this tool' }),
  ])
  .openapi('Deliver');

/** What `makeNotification` checks is not checked twice, but for what it takes for granted. */
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
    action: z.enum(ACTIONS),
    message: text(LIMITS.messageChars).optional(),
    instruction: text(LIMITS.instructionChars).optional(),
    author: text(LIMITS.idChars).optional(),
  })
  .openapi('InterruptInput');

const queuedShape = {
  kind: z.enum(['queued', 'folded', 'duplicate']),
  id: z.string(),
  into: nullable(z.string()),
  to: z.array(z.string()),
};
export const queued = z.object(queuedShape).openapi('Queued') satisfies z.ZodType<api.QueuedReply>;
export const interrupted = z
  .object({
    ...queuedShape,
    effects: z.array(z.object({ address: z.string(), host: nullable(z.string()), force, says: z.string() })),
  })
  .openapi('Interrupted') satisfies z.ZodType<api.InterruptReply>;

export const withdrawn = z
  .object({ id: z.string(), result: z.enum(['withdrawn', 'maybe_seen', 'too_late', 'unknown']) })
  .openapi('Withdrawn') satisfies z.ZodType<api.WithdrawReply>;

export const receipt = z
  .object({ id: z.string(), receipt: z.string(), reached: z.boolean(), settled: z.boolean() })
  .openapi('Receipt') satisfies z.ZodType<api.ReceiptReply>;

const tokenShape = {
  id: z.string(),
  kind: z.enum(TOKEN_KINDS),
  name: z.string(),
  project: nullable(z.string()),
  agent: nullable(z.string()),
  conversation: nullable(z.string()),
  session: z.boolean(),
  createdAt: time,
  lastUsedAt: nullable(time),
  expiresAt: nullable(time),
};
export const token = z.object(tokenShape).openapi('Token') satisfies z.ZodType<api.TokenInfo>;
export const tokensPage = z.object({ items: z.array(token), next }).openapi('TokensPage') satisfies z.ZodType<
  api.Page<api.TokenInfo>
>;
export const createdToken = z
  .object({ ...tokenShape, token: z.string().openapi({ description: 'shown this once' }) })
  .openapi('CreatedToken') satisfies z.ZodType<api.CreatedToken>;
export const tokenInput = z
  .strictObject({
    kind: z.enum(TOKEN_KINDS),
    name: text(100),
    project: nameParam.optional(),
    agent: nameParam.optional(),
    conversation: nameParam.optional(),
    expiresInMs: z
      .number()
      .int()
      .min(1_000)
      .max(3_650 * 86_400_000)
      .optional(),
  })
  .openapi('TokenInput');

export const session = z
  .object({
    who: token,
    project: z.string(),
    version: z.string(),
    store: z.string(),
    shell: z.object({ earpiece: z.string(), clients: z.array(z.string()) }),
    now: time,
    head: z.number().int(),
  })
  .openapi('Session') satisfies z.ZodType<api.SessionReply>;
export const sessionInput = z
  .union([z.strictObject({ code: text(200) }), z.strictObject({ token: text(200) })])
  .openapi('SessionInput');

const settingIn = z.object({ decidedBy: nullable(z.string()), set: z.boolean(), says: json });
const settingPlace = z.object({ file: z.string(), exists: z.boolean() });
const settingForm = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('switch') }),
  z.object({ kind: z.literal('number'), min: z.number(), max: z.number() }),
  z.object({ kind: z.literal('choice'), words: z.array(z.string()) }),
  z.object({ kind: z.literal('duration'), never: z.boolean() }),
  z.object({ kind: z.literal('list') }),
]);

export const settings = z
  .object({
    project: z.string(),
    files: z.array(z.object({ scope: z.string(), file: z.string() })),
    places: nullable(z.object({ user: settingPlace, project: settingPlace })),
    problems: z.array(z.string()),
    settings: z.array(
      z.object({
        key: z.string(),
        value: json,
        text: z.string(),
        decidedBy: z.string(),
        expects: z.string(),
        env: nullable(z.string()),
        overridden: z.array(z.object({ text: z.string(), decidedBy: z.string() })),
        change: nullable(
          z.object({
            label: z.string(),
            help: z.string(),
            form: settingForm,
            addsUp: z.boolean(),
            takesEffect: z.string(),
            in: z.object({ user: settingIn, project: settingIn }),
          }),
        ),
      }),
    ),
  })
  .openapi('Settings') satisfies z.ZodType<api.SettingsReply>;

export const settingsInput = z
  .strictObject({
    scope: z
      .enum(['user', 'project'])
      .default('user')
      .openapi({ description: "whose file: the user's, for all projects, or the project's" }),
    settings: z
      .record(
        z.string().max(400),
        z.union([z.boolean(), z.number(), z.string().max(4_000), z.array(z.string().max(1_000)).max(200), z.null()]),
      )
      .refine((given) => Object.keys(given).length <= 100, 'at most 100 at once')
      .openapi({
        description: 'by key, as in the file; null takes it out, and the next weaker one counts',
        example: { 'budget.max_items': 5, min_level: null },
      }),
  })
  .openapi('SettingsInput');

export const subscriber = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    version: z.string(),
    event_types: z.array(z.string()),
    priority: z.string(),
    inject_at: z.string(),
    core: z.boolean(),
    locked: nullable(z.string()),
    enabled: z.boolean(),
    from: z.object({ folder: z.string(), file: z.string() }),
    spoke_last_7_days: z.number().int(),
  })
  .openapi('Subscriber') satisfies z.ZodType<api.SubscriberItem>;
export const subscribers = z
  .object({
    project: z.string(),
    subscribers: z.array(subscriber),
    problems: z.array(z.object({ file: z.string(), severity: z.string(), message: z.string() })),
  })
  .openapi('Subscribers') satisfies z.ZodType<api.SubscribersReply>;
export const disabledSubscribers = z
  .strictObject({ disabled_subscribers: z.array(text(200)).max(1_000) })
  .openapi('DisabledSubscribers');
export const subscriberTest = z
  .object({
    subscriber_id: z.string(),
    event_type: z.string(),
    inject_at: z.string(),
    to: z.string(),
    notification: nullable(z.string()),
    message: z.string(),
  })
  .openapi('SubscriberTest') satisfies z.ZodType<api.SubscriberTestReply>;

/** CloudEvents are checked by their source; this is for the document. */
export const cloudEvent = z
  .looseObject({
    specversion: z.string(),
    id: z.string(),
    source: z.string(),
    type: z.string(),
    subject: z.string().optional().openapi({ description: 'the address whom it concerns' }),
    time: z.string().optional(),
    datacontenttype: z.string().optional(),
    data: z.unknown().optional().openapi({ description: 'any JSON' }),
    severity: z.enum(SEVERITIES).optional(),
  })
  .openapi('CloudEvent');
export const emitted = z
  .object({
    events: z.array(
      z.object({
        id: z.string(),
        source: z.string(),
        type: z.string(),
        heard: z.array(
          z.object({ subscriber: z.string(), kind: z.string(), ids: z.array(z.string()), because: nullable(z.string()) }),
        ),
      }),
    ),
  })
  .openapi('Emitted') satisfies z.ZodType<api.EmittedReply>;

const delivery = z
  .object({ count: z.number(), p50Ms: nullable(z.number()), p95Ms: nullable(z.number()) })
  .openapi('Delivery') satisfies z.ZodType<api.Delivery>;

export const activity = z
  .object({
    project: nullable(z.string()),
    from: time,
    to: time,
    bucketMs: z.number(),
    buckets: z.array(z.object({ at: time, queued: counts, delivered: counts, waiting: counts, tokens: z.number(), delivery })),
    delivery,
    kinds: z.array(z.object({ kind: z.string(), queued: z.number(), delivered: z.number(), tokens: z.number() })),
    tokens: z.number(),
    truncated: z.boolean(),
  })
  .openapi('Activity') satisfies z.ZodType<api.ActivityReply>;

const actor = z.object({ kind: z.enum(['person', 'agent']), name: z.string() });
const execution = z
  .object({
    id: z.string(),
    agent: z.string(),
    conversation: nullable(z.string()),
    startedAt: time,
    interrupted: nullable(
      z.object({
        why: z.enum(INTERRUPTIONS),
        by: actor,
        at: time,
        reason: nullable(z.string()),
        notification: z.string().openapi({ description: 'what its agent is told by' }),
      }),
    ),
    recalled: z.boolean(),
    endedAt: nullable(time),
    result: nullable(z.enum([...TASK_RESULTS, 'lost'])),
    exitCode: nullable(z.number().int()),
    message: nullable(z.string()),
  })
  .openapi('TaskExecution') satisfies z.ZodType<TaskExecution>;
export const task = z
  .object({
    id: z.string(),
    project: z.string(),
    title: z.string(),
    description: z.string(),
    priority: z.enum(TASK_PRIORITIES),
    status: z.enum(TASK_STATUSES),
    assignee: nullable(z.string()),
    blockedReason: nullable(z.string()),
    version: z.number().int(),
    createdAt: time,
    createdBy: actor,
    changedAt: time,
    statusChangedAt: time,
    statusChangedBy: actor,
    execution: nullable(execution),
    mayBecome: z.array(z.enum(TASK_STATUSES)),
  })
  .openapi('Task') satisfies z.ZodType<api.TaskView>;
export const tasksPage = z.object({ items: z.array(task), next }).openapi('TasksPage') satisfies z.ZodType<
  api.Page<api.TaskView>
>;
export const executionsPage = z.object({ items: z.array(execution), next }).openapi('TaskExecutionsPage') satisfies z.ZodType<
  api.Page<TaskExecution>
>;
const expected = z
  .union([z.enum(TASK_STATUSES), z.number().int()])
  .optional()
  .openapi({ description: 'the status or the version that was seen; when it is another now, nothing is changed (409)' });
const author = text(TASK_LIMITS.actor).optional().openapi({ description: 'the person who does it' });
export const taskInput = z
  .strictObject({
    project: nameParam.optional(),
    title: z.string(),
    description: z.string().optional(),
    priority: z.enum(TASK_PRIORITIES).optional(),
    assignee: nullable(text(300)).optional().openapi({ description: 'an agent of the project' }),
    status: z.enum(['backlog', 'todo']).optional(),
    author,
  })
  .openapi('TaskInput');
export const taskEdit = z
  .strictObject({
    title: z.string().optional(),
    description: z.string().optional(),
    priority: z.enum(TASK_PRIORITIES).optional(),
    assignee: nullable(text(300)).optional().openapi({ description: 'an agent of the project; null: nobody' }),
    expected,
    author,
  })
  .openapi('TaskEdit');
export const taskMove = z
  .strictObject({
    status: z.enum(TASK_STATUSES),
    expected,
    reason: z.string().optional().openapi({ description: 'why; the agent reads it' }),
    author,
  })
  .openapi('TaskMove');

export const health = z
  .object({ status: z.enum(['ok', 'store_unavailable']), version: z.string() })
  .openapi('Health') satisfies z.ZodType<api.Health>;
