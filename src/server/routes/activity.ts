/** Counts queued, delivered and waiting notifications for a chart, with their delay and their cost. */
import type { ActivityReply, Delivery } from '../../wire/api.ts';
import type { LogKey } from '../../core/address.ts';
import { asListed } from '../../core/clocks.ts';
import type { Item } from '../../core/items.ts';
import { formatKind, type Level } from '../../core/notification.ts';
import { estimateTokens } from '../../core/tokens.ts';
import type { Inbox } from '../../inbox/index.ts';
import { maySeeItem, scopeOf } from '../authority.ts';
import { answers, createRoute, notBefore, reply, seqQuery, z, type Api, type Deps } from '../context.ts';
import { principalOf } from '../guards.ts';
import { positionAt } from '../in-time.ts';
import { ProblemError } from '../problems.ts';
import { activity, logParam, nameParam } from '../../wire/schemas.ts';
import type { Principal } from '../tokens.ts';

const HOUR = 3_600_000;
/** After this number of items, the answer ends and says that it is incomplete. The last chunk may exceed the number. */
const MAX_ITEMS = 20_000;
/** The maximum number of items of one log that closed after the period and are read. The last chunk may exceed the number. */
const MAX_CLOSED_AFTER = 2_000;
const MAX_LOGS = 1_000;
const MAX_BUCKETS = 500;
const GOOD_FOR_MS = 5_000;

export function activityRoutes(api: Api, { inbox }: Deps): void {
  const known = new Map<string, { readonly at: number; readonly reply: Promise<ActivityReply> }>();

  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/activity',
      operationId: 'getActivity',
      tags: ['activity'],
      summary: 'Chart the notifications by level (queued, delivered, open), their time to delivery, and their tokens',
      description:
        'Each series counts notifications, once for each conversation that a notification is for. A notification that was folded into another notification is not counted separately.',
      request: {
        query: z.strictObject({
          project: nameParam.optional(),
          log: logParam.optional(),
          from: seqQuery.optional().openapi({ description: 'epoch milliseconds; default: a day before `to`' }),
          to: seqQuery.optional().openapi({ description: 'epoch milliseconds; default: now' }),
          bucket: z.coerce
            .number()
            .int()
            .min(1_000)
            .max(31 * 24 * HOUR)
            .optional()
            .openapi({ description: 'milliseconds; default: 1/48 of the period' }),
        }),
      },
      responses: answers(activity, 'activity'),
    }),
    async (c) => {
      const who = principalOf(c);
      const { project, log, from, to, bucket } = c.req.valid('query');
      const scope = scopeOf(who, { project, log });
      const now = inbox.store.now();
      const end = to ?? now;
      const begin = from ?? end - 24 * HOUR;
      if (begin >= end) throw notBefore(begin, end);
      const bucketMs = bucket ?? Math.max(1_000, Math.ceil((end - begin) / 48));
      if ((end - begin) / bucketMs > MAX_BUCKETS)
        throw new ProblemError(
          'bad_argument',
          `the period has ${Math.ceil((end - begin) / bucketMs)} buckets of this length, but at most ${MAX_BUCKETS} are allowed; choose a longer bucket`,
          { field: 'bucket' },
        );
      const asked = { project: scope.project ?? null, log: scope.log, from: begin, to: end, bucketMs };
      const key = JSON.stringify([who.kind === 'agent' ? who.id : null, { ...asked, from: from ?? null, to: to ?? null }]);
      const before = known.get(key);
      if (before !== undefined && now - before.at < GOOD_FOR_MS) return reply<ActivityReply>(c, await before.reply);
      if (known.size >= 100) known.clear();
      const made = activityOf(inbox, who, asked);
      known.set(key, { at: now, reply: made });
      made.catch(() => known.delete(key));
      return reply<ActivityReply>(c, await made);
    },
  );
}

type Asked = {
  readonly project: string | null;
  readonly log: LogKey | undefined;
  readonly from: number;
  readonly to: number;
  readonly bucketMs: number;
};

async function activityOf(inbox: Inbox, who: Principal, asked: Asked): Promise<ActivityReply> {
  const { from, to, bucketMs } = asked;
  const n = Math.ceil((to - from) / bucketMs);
  const buckets = Array.from({ length: n }, (_, i) => ({
    at: from + i * bucketMs,
    queued: none(),
    delivered: none(),
    waiting: none(),
    tokens: 0,
    times: [] as number[],
  }));
  const at = (time: number): (typeof buckets)[number] | undefined =>
    time < from || time >= to ? undefined : buckets[Math.floor((time - from) / bucketMs)];
  const kinds = new Map<string, { queued: number; delivered: number; tokens: number }>();
  const times: number[] = [];
  let tokens = 0;

  const truncated = await eachItem(inbox, asked, (found) => {
    const item = asListed(found, inbox.store.now());
    // A folded notification is part of another notification, which counts once in each series.
    if (item.outcome === 'folded') return;
    if (!maySeeItem(who, item)) return;
    const { level, kind } = item.notification;
    const name = formatKind(kind);
    let of = kinds.get(name);
    if (of === undefined) kinds.set(name, (of = { queued: 0, delivered: 0, tokens: 0 }));
    const queued = at(item.at);
    if (queued !== undefined) {
      queued.queued[level]++;
      of.queued++;
    }
    const deliveredAt = item.outcome === 'delivered' ? item.closedAt : undefined;
    const delivered = deliveredAt === undefined ? undefined : at(deliveredAt);
    if (delivered !== undefined && deliveredAt !== undefined) {
      delivered.delivered[level]++;
      of.delivered++;
      const took = Math.max(0, deliveredAt - item.at);
      times.push(took);
      delivered.times.push(took);
      // Several notifications may share a line. The cost of the line is counted only for the first of these notifications.
      if (item.text !== undefined && (item.group === undefined || item.group[0] === item.id)) {
        const cost = estimateTokens(item.text);
        delivered.tokens += cost;
        of.tokens += cost;
        tokens += cost;
      }
    }
    const closedAt = item.closedAt ?? Number.POSITIVE_INFINITY;
    // The notification counts as waiting at the end of each bucket until it closes.
    const first = Math.max(0, Math.floor((item.at - from) / bucketMs));
    for (let i = first; i < n; i++) {
      const bucket = buckets[i];
      if (bucket === undefined || bucket.at + bucketMs > closedAt) break;
      bucket.waiting[level]++;
    }
  });

  return {
    ...asked,
    buckets: buckets.map(({ times: of, ...bucket }) => ({ ...bucket, delivery: deliveryOf(of) })),
    delivery: deliveryOf(times),
    kinds: [...kinds]
      .map(([kind, counts]) => ({ kind, ...counts }))
      .filter(({ queued, delivered }) => queued + delivered > 0)
      .toSorted((a, b) => b.queued - a.queued || (a.kind < b.kind ? -1 : 1))
      .slice(0, 50),
    tokens,
    truncated,
  };
}

function deliveryOf(times: readonly number[]): Delivery {
  const sorted = times.toSorted((a, b) => a - b);
  const share = (part: number): number | null => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? null;
  return { count: sorted.length, p50Ms: share(0.5), p95Ms: share(0.95) };
}

/**
 * Reads the items that were closed in the period or open at its end. Only these items can have been queued, delivered or waiting
 * in the period. Returns true if a limit ended the reading, so that more items may exist.
 */
async function eachItem(inbox: Inbox, asked: Asked, look: (item: Item) => void): Promise<boolean> {
  const { log, project, to } = asked;
  const found =
    log === undefined ? await inbox.store.agents({ ...(project === null ? {} : { project }), limit: MAX_LOGS + 1 }) : [];
  const logs = log === undefined ? found.slice(0, MAX_LOGS).map((each) => each.log) : [log];
  const walk: Walk = { inbox, look, asked, left: MAX_ITEMS, cut: false };
  for (const key of logs) {
    await closedIn(walk, key);
    await openAt(walk, key, 'open');
    if (to <= inbox.store.now()) await closedAfter(walk, key);
    if (walk.left <= 0) return true;
  }
  return walk.cut || found.length > MAX_LOGS;
}

type Walk = {
  readonly inbox: Inbox;
  readonly look: (item: Item) => void;
  readonly asked: Asked;
  /** The number of items that may still be read. */
  left: number;
  /** Whether older items were left out. */
  cut: boolean;
};
const CHUNK = 500;

async function closedIn(walk: Walk, log: LogKey): Promise<void> {
  for await (const page of closed(walk, log, walk.asked)) for (const item of page) walk.look(item);
}

/**
 * Reads the items that were open at the end of the period and closed later. If too many items have closed after the period, the
 * items that were queued in the period or in the week before are searched.
 */
async function closedAfter(walk: Walk, log: LogKey): Promise<void> {
  const { to } = walk.asked;
  const found: Item[] = [];
  let read = 0;
  for await (const page of closed(walk, log, { from: to, to: Number.MAX_SAFE_INTEGER })) {
    found.push(...page.filter((item) => item.at < to));
    read += page.length;
    if (read >= MAX_CLOSED_AFTER) return openAt(walk, log, 'closed');
  }
  for (const item of found) walk.look(item);
}

/** Yields the items that closed in a period, page by page, the last closed first. */
async function* closed(
  walk: Walk,
  log: LogKey,
  { from, to }: { readonly from: number; readonly to: number },
): AsyncGenerator<readonly Item[]> {
  let before: { closedAt: number; seq: number } | undefined;
  while (walk.left > 0) {
    const page = await walk.inbox.store.items(log, { kind: 'closed', from, to, limit: CHUNK, ...(before && { before }) });
    walk.left -= page.length;
    yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < CHUNK) return;
    before = { closedAt: last.closedAt ?? from, seq: last.seq };
    // Other requests can run between two reads.
    await new Promise(setImmediate);
  }
}

/**
 * Reads the items that have this state now and were open at the end of the period. For `closed`, stops at items that were queued
 * more than a week before the period, so that a chart stays fast.
 */
async function openAt(walk: Walk, log: LogKey, state: 'open' | 'closed'): Promise<void> {
  const { from, to } = walk.asked;
  let before = await positionAt(walk.inbox, log, to);
  while (walk.left > 0) {
    const page = await walk.inbox.store.items(log, { kind: 'latest', limit: CHUNK, before, state });
    for (const item of page) if (item.at < to && (item.closedAt ?? to) >= to) walk.look(item);
    walk.left -= page.length;
    const last = page.at(-1);
    if (last === undefined || page.length < CHUNK) return;
    if (state === 'closed' && last.at < from - 7 * 24 * HOUR) {
      walk.cut = true;
      return;
    }
    before = last.seq;
    await new Promise(setImmediate);
  }
}

const none = (): Record<Level, number> => ({ info: 0, warning: 0, error: 0, critical: 0 });
