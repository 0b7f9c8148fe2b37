/** Queues, lists, explains, withdraws and requeues notifications, marks them as read, and waits for receipts. */
import { parseAddress, type LogKey } from '../../core/address.ts';
import { asListed } from '../../core/clocks.ts';
import { defined } from '../../core/defined.ts';
import type { NotificationsPage, QueuedReply, ReceiptReply, Story, WithdrawReply } from '../../wire/api.ts';
import type { Item } from '../../core/items.ts';
import { formatKind, type NotificationId, type NotificationInput } from '../../core/notification.ts';
import { RECEIPTS } from '../../core/receipts.ts';
import { actorOf, awaitReceipt, receiptState, type Inbox, type ReceiptState } from '../../inbox/index.ts';
import { mayRead, maySee, maySeeItem, mustLead, mustMarkRead, mustQueue, mustRead, scopeOf } from '../authority.ts';
import {
  answers,
  createRoute,
  inPath,
  jsonBody,
  limitQuery,
  reply,
  timeQuery,
  timesOf,
  z,
  type Api,
  type Deps,
} from '../context.ts';
import { principalOf } from '../guards.ts';
import { listInTime, TIMED_BY } from '../in-time.ts';
import { listAcross, listOf, logsOf, wordsOf } from '../listing.ts';
import { idempotency, idempotencyKey } from '../idempotency.ts';
import { ProblemError } from '../problems.ts';
import { personOf } from './conversations.ts';
import * as schemas from '../../wire/schemas.ts';
import { timeAt, Words } from '../search.ts';
import { notificationView, queuedReply } from '../shown.ts';
import { storyOf } from '../story.ts';
import type { Principal } from '../tokens.ts';

const idParams = z.object({ id: inPath(256) });
const logQuery = z.strictObject({ log: schemas.logParam.optional() });
/** The maximum number of logs that are searched for an id, if the request names no log. */
const MAX_SEARCHED = 500;
const MAX_WAIT_S = 60;

export function notificationRoutes(api: Api, deps: Deps): void {
  const { inbox, queue, hub } = deps;

  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/notifications',
      operationId: 'queueNotification',
      tags: ['notifications'],
      summary: 'Queue a notification; after the answer, the notification is durable',
      ...idempotency,
      request: { body: jsonBody(schemas.notificationInput) },
      responses: {
        ...answers(schemas.queued, 'queued', 201),
        200: answers(schemas.queued, 'the notification was queued before, or is counted in another notification')[200],
      },
    }),
    async (c) => {
      const body = c.req.valid('json');
      const key = idempotencyKey(c);
      if (key !== undefined && body.id !== undefined && body.id !== key)
        throw new ProblemError(
          'bad_argument',
          `Idempotency-Key ${JSON.stringify(key.slice(0, 80))} and id ${JSON.stringify(body.id.slice(0, 80))} differ; send only one of them`,
        );
      const to = parseAddress(body.to);
      const who = principalOf(c);
      const input = mustQueue(who, to, { ...byPerson(who), ...schemas.toInput(body), ...defined({ id: key }) });
      const done = await queue(to, input);
      const loweredTo = body.level === undefined || input.level === body.level ? null : (input.level ?? null);
      return reply<QueuedReply>(c, queuedReply(done, loweredTo), done.kind === 'queued' ? 201 : 200);
    },
  );

  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/notifications',
      operationId: 'listNotifications',
      tags: ['notifications'],
      summary: 'List notifications of one agent, one project, or all projects, newest first',
      request: {
        query: z.strictObject({
          log: schemas.logParam.optional(),
          project: schemas.nameParam.optional(),
          conversation: schemas.nameParam.optional(),
          state: z.enum(['open', 'closed', 'all']).default('all'),
          source: z.string().max(64).optional().openapi({ description: 'the source of the kind, such as ci or files' }),
          level: schemas.level.optional(),
          q: schemas.wordsQuery.optional(),
          ...timeQuery,
          by: z.enum(TIMED_BY).default('queued').openapi({
            description: 'the time to which `from` and `to` apply; `waiting`: the notification was open at the time `to`',
          }),
          kind: z.string().max(200).optional().openapi({ description: 'source.name' }),
          before: z
            .string()
            .regex(/^\d{1,16}(\.\d{1,16})?$/u, 'must be the `next` of the previous page')
            .optional()
            .openapi({ description: '`next` of the previous page' }),
          limit: limitQuery(200, 50),
        }),
      },
      responses: answers(schemas.notificationsPage, 'notifications; a page may be short although there is a next page'),
    }),
    async (c) => {
      const { log, project, conversation, state, source, level, q, from, to, by, kind, before, limit } = c.req.valid('query');
      const who = principalOf(c);
      const scope = scopeOf(who, { log, project, conversation });
      const words = q === undefined ? undefined : new Words(q);
      const wants = (item: Item): boolean =>
        (state === 'all' || (asListed(item, inbox.store.now()).state === 'closed') === (state === 'closed')) &&
        (source === undefined || item.notification.kind.source === source) &&
        (level === undefined || item.notification.level === level) &&
        (kind === undefined || formatKind(item.notification.kind) === kind) &&
        (words === undefined || words.in(wordsOf(item)) || words.are(item.id)) &&
        (scope.conversation === undefined || item.audience === '' || item.audience === scope.conversation) &&
        maySeeItem(who, item);
      const [first = '', second] = before?.split('.') ?? [];
      if (from !== undefined || to !== undefined || by !== 'queued') {
        const times = timesOf(from, to);
        const place =
          before === undefined
            ? undefined
            : second === undefined
              ? { at: 0, seq: Number(first) }
              : { at: Number(first), seq: Number(second) };
        const logs = scope.log === undefined ? await logsOf(inbox, scope.project) : [scope.log];
        const { found, next } = await listInTime(inbox, logs, { ...times, by, limit, before: place, wants });
        return reply<NotificationsPage>(c, {
          items: found.map(({ log: of, item }) => notificationView(of, item, inbox.store.now())),
          next: next === null ? null : next.at === 0 ? String(next.seq) : `${next.at}.${next.seq}`,
          ...(words === undefined || next === null
            ? {}
            : { lookedBackTo: next.at === 0 ? ((await timeAt(inbox, next.seq, scope)) ?? times.from) : next.at }),
        });
      }
      const query = { before: before === undefined ? Number.MAX_SAFE_INTEGER : Number(first), limit, state, wants };
      const page =
        scope.log === undefined ? await listAcross(inbox, scope.project, query) : await listOf(inbox, scope.log, query);
      const lookedBackTo = words === undefined || page.next === null ? null : await timeAt(inbox, Number(page.next), scope);
      return reply<NotificationsPage>(c, { ...page, ...(lookedBackTo === null ? {} : { lookedBackTo }) });
    },
  );

  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/notifications/{id}',
      operationId: 'whyNotification',
      tags: ['notifications'],
      summary: 'Explain a notification: each step, the reason, and the exact text for the model',
      request: { params: idParams, query: logQuery },
      responses: answers(schemas.story, 'the explanation, for each conversation that should get the notification'),
    }),
    async (c) => {
      const who = principalOf(c);
      const { id } = c.req.valid('param');
      const log = await logWith(inbox, who, id, c.req.valid('query').log);
      const why = await inbox.why(id, log, {
        item: (item) => maySeeItem(who, item),
        conversation: (conversation) => mayRead(who, { log, conversation }),
      });
      const told =
        why === undefined
          ? undefined
          : await storyOf(inbox, why, {
              item: (item) => maySeeItem(who, item),
              record: (record) => maySee(who, record),
              conversation: (conversation) => mayRead(who, { log: why.log, conversation }),
            });
      if (told === undefined || told.items.length === 0) throw unknown(id, log);
      return reply<Story>(c, told);
    },
  );

  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/notifications/{id}/withdraw',
      operationId: 'withdrawNotification',
      tags: ['notifications'],
      summary: 'Withdraw a notification. The answer says whether the notification was still undelivered',
      request: {
        params: idParams,
        query: logQuery,
        body: {
          content: {
            'application/json': { schema: z.strictObject({ reason: z.string().max(1_000).optional() }).openapi('WithdrawInput') },
          },
        },
      },
      responses: answers(schemas.withdrawn, 'whether the notification was still undelivered'),
    }),
    async (c) => {
      const who = principalOf(c);
      const { id } = c.req.valid('param');
      const log = await logWith(inbox, who, id, c.req.valid('query').log);
      mustLead(who, { log });
      const { reason = 'by hand' } = c.req.valid('json') ?? {};
      const [done] = await inbox.withdraw(log, { id }, { by: actorOf(who.name, inbox.speaker), reason });
      if (done === undefined || done.result === 'unknown') throw unknown(id, log);
      return reply<WithdrawReply>(c, done);
    },
  );

  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/notifications/{id}/read',
      operationId: 'readNotification',
      tags: ['notifications'],
      summary: 'Mark a notification as read: its gate goes down, but a pause holds until a person resumes the agent',
      request: { params: idParams, query: logQuery },
      responses: answers(schemas.receipt, 'the current receipt of the notification'),
    }),
    async (c) => {
      const who = principalOf(c);
      const { id } = c.req.valid('param');
      const log = await logWith(inbox, who, id, c.req.valid('query').log);
      mustMarkRead(who, { log, ...(who.conversation === null ? {} : { conversation: who.conversation }) });
      const items = await visible(inbox, who, log, id);
      if (items.length === 0) throw unknown(id, log);
      await inbox.markRead(log, [id], actorOf(who.name, inbox.speaker));
      return reply<ReceiptReply>(c, { id, ...receiptState(await visible(inbox, who, log, id), 'read') });
    },
  );

  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/notifications/{id}/requeue',
      operationId: 'requeueNotification',
      tags: ['notifications'],
      summary: 'Queue a closed notification again, with a new id',
      request: { params: idParams, query: logQuery },
      responses: answers(schemas.queued, 'queued again', 201),
    }),
    async (c) => {
      const who = principalOf(c);
      const { id } = c.req.valid('param');
      const log = await logWith(inbox, who, id, c.req.valid('query').log);
      mustLead(who, { log });
      return reply<QueuedReply>(c, queuedReply(await inbox.requeue(log, id, personOf(who))), 201);
    },
  );

  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/notifications/{id}/receipt',
      operationId: 'awaitReceipt',
      tags: ['notifications'],
      summary: 'Wait until a notification has this receipt, or can no longer get it',
      request: {
        params: idParams,
        query: logQuery.extend({
          until: z.enum(RECEIPTS).default('delivered'),
          wait: z.coerce
            .number()
            .min(0)
            .max(MAX_WAIT_S)
            .default(0)
            .openapi({ description: 'seconds; call again if the receipt is not settled' }),
        }),
      },
      responses: answers(schemas.receipt, 'the receipt of the notification'),
    }),
    async (c) => {
      const who = principalOf(c);
      const { id } = c.req.valid('param');
      const { log: named, until, wait } = c.req.valid('query');
      const log = await logWith(inbox, who, id, named);
      const signal = AbortSignal.any([c.req.raw.signal, hub.stopping]);
      const look = (waiting: { readonly withinMs: number; readonly signal?: AbortSignal }): Promise<ReceiptState | undefined> =>
        awaitReceipt(
          inbox.store,
          { id, logs: [log], counts: (item) => maySeeItem(who, item) },
          {
            ...waiting,
            until,
            beforeNextRead: async () => {
              if (!(await deps.tokens.lives(who.id)))
                throw new ProblemError(
                  'unauthorized',
                  'the token is revoked or expired; create a token with: earpiece token create',
                );
            },
          },
        );
      // If the server stops during the wait, the answer is the receipt so far.
      const state = await look({ withinMs: wait * 1_000, signal }).catch((error: unknown) => {
        if (signal.aborted) return look({ withinMs: 0 });
        throw error;
      });
      if (state === undefined) throw unknown(id, log);
      return reply<ReceiptReply>(c, { id, ...state });
    },
  );
}

/** Returns the default origin of a notification: for a request of a browser's session, the person at the browser. */
const byPerson = (who: Principal): Pick<NotificationInput, 'origin'> =>
  who.session && (who.kind === 'admin' || who.kind === 'project') ? { origin: { person: personOf(who) } } : {};

/** Finds the log of an id: the named log, the log of an agent's token, or the first readable log that contains the id. */
async function logWith(inbox: Inbox, who: Principal, id: string, named: string | undefined): Promise<LogKey> {
  if (named !== undefined || who.kind === 'agent') return scopeOf(who, { log: named }).log as LogKey;
  if (who.kind === 'send') mustRead(who, { project: who.project ?? undefined });
  const query = who.project === null ? {} : { project: who.project };
  const logs = (await inbox.store.agents({ ...query, limit: MAX_SEARCHED + 1 })).map(({ log }) => log);
  if (logs.length > MAX_SEARCHED)
    throw new ProblemError('bad_argument', `there are more than ${MAX_SEARCHED} agents; name the agent: ?log=project/agent`, {
      field: 'log',
    });
  for (const log of logs)
    if (mayRead(who, { log }) && (await inbox.store.items(log, { kind: 'ids', ids: [id as NotificationId] })).length > 0)
      return log;
  throw unknown(id, undefined);
}

const unknown = (id: string, log: string | undefined): ProblemError =>
  new ProblemError(
    'not_found',
    `no notification ${JSON.stringify(id.slice(0, 80))}${log === undefined ? '' : ` for ${log}`}; GET /api/notifications lists the existing notifications`,
  );

async function visible(inbox: Inbox, who: Principal, log: LogKey, id: string): Promise<readonly Item[]> {
  const items = await inbox.store.items(log, { kind: 'ids', ids: [id as NotificationId] });
  return items.filter((item) => maySeeItem(who, item));
}
