/**
 * The open set: what each record does to the notifications of its log. Pure, and the only place that knows: a store keeps
 * `Item`s as an index beside the log and changes them through `settle`, so that replaying any prefix of a log gives the
 * same items as living through it.
 *
 * An item is one notification for one audience: a conversation, or `ANYONE` (the agent's first conversation that carries).
 *
 *   open ──offered──▶ offered ──confirmed──▶ closed (delivered | summarized)
 *    ▲                  │ └──withdrawn/expired──▶ closed (seen, maybe)
 *    └────released──────┘
 *   open ──own transcript's carrier──▶ closed (delivered | summarized)
 *   open ──notification_closed──▶ closed (its outcome);   open ──folded into another──▶ closed (folded)
 *
 * Closed is final per item: an id closes once per conversation.
 */
import type { ConversationId } from './address.ts';
import type { Json } from './json.ts';
import { isInterrupt, type Notification, type NotificationId } from './notification.ts';
import type { CarrierId, Draft, KnownDraft, Outcome, Owner, ReleasedRecord } from './records.ts';
import { notificationOf } from './records.ts';

/** The audience of a notification that any conversation of the agent may take, once. */
export const ANYONE = '' as ConversationId;

export type Item = {
  readonly id: NotificationId;
  readonly audience: ConversationId;
  readonly notification: Notification;
  /** Where it was queued. */
  readonly seq: number;
  readonly at: number;
  readonly state: 'open' | 'offered' | 'closed';
  readonly outcome?: Outcome | 'delivered' | 'folded';
  /** The conversation whose carrier took it (differs from `audience` for ANYONE). */
  readonly takenBy?: ConversationId;
  /** The last carrier that offered or delivered it, its lease while offered. */
  readonly carrier?: CarrierId;
  readonly owner?: Owner;
  readonly until?: number;
  /** In the offer as part of the summary line, not as a text of its own. */
  readonly inSummary?: true;
  /** How often it was offered; above 0 the model may have seen it. */
  readonly offers: number;
  /** Its text as first rendered, and the ids that share it (coalesced); the first of them is the line's. */
  readonly text?: string;
  readonly group?: readonly NotificationId[];
  /** The gate of its conversations is up because of it. */
  readonly gate: boolean;
  readonly read: boolean;
  readonly observed: boolean;
  /** Folded into it: how many in all, since when, and up to `MAX_DIFFERS` of what was different. */
  readonly count: number;
  readonly lastAt: number;
  readonly differs: readonly { readonly message?: string; readonly data?: Json }[];
  readonly closedAt?: number;
  /** Positions of the records about it, oldest first. */
  readonly history: readonly number[];
};

export const MAX_DIFFERS = 50;

/** Releases of a carrier that went without the view: nobody can have seen it. */
const NEVER_SENT: ReadonlySet<string> = new Set(['late', 'too_big'] satisfies ReleasedRecord['reason'][]);

/** What a record needs to see before it can be settled: items by id, by carrier, or none (it makes new ones). */
export type Touches = {
  readonly ids: readonly NotificationId[];
  readonly carrier?: CarrierId;
  readonly creates: readonly NotificationId[];
};

const NOTHING: Touches = { ids: [], creates: [] };

export function touches(draft: Draft): Touches {
  const record = draft as KnownDraft;
  switch (record.type) {
    case 'system_notification_queued':
      return { ids: [], creates: [record.id] };
    case 'system_notification_folded':
      return { ids: [record.into], creates: [record.id] };
    case 'carrier_offered':
      return { ids: [...record.ids, ...(record.summarizes ?? [])], creates: [] };
    case 'carrier_confirmed':
    case 'carrier_released':
      return { ids: [], carrier: record.carrier, creates: [] };
    case 'notification_observed':
    case 'notification_read':
    case 'notification_closed':
    case 'gate_refused':
    case 'conversation_forked':
      return { ids: record.ids, creates: [] };
    case 'chat_request':
    case 'tool_call_response': {
      const ids = [...(record.notifications ?? []).map((n) => n.id), ...(record.summarizes ?? [])];
      return ids.length === 0 ? NOTHING : { ids, creates: [] };
    }
    case 'fan_out':
    case 'fan_out_done':
    case 'turn_start':
    case 'chat_response':
    case 'tool_call_request':
      return NOTHING;
    default:
      record satisfies never;
      return NOTHING;
  }
}

export type Settled =
  | { readonly kind: 'settled'; readonly items: readonly Item[] }
  /** The log already has this id: the queue is a repetition and changes nothing. */
  | { readonly kind: 'duplicate'; readonly id: NotificationId }
  /** Not open any more (`closed`), in another's offer (`offered`), or never queued here (`unknown`). */
  | {
      readonly kind: 'conflict';
      readonly ids: readonly { readonly id: NotificationId; readonly why: 'closed' | 'offered' | 'unknown' }[];
    };

/**
 * What `draft` at (`seq`, `at`) makes of the items that it touches. Returns the changed and new items only.
 * `found` holds every item with an id or carrier named by `touches(draft)`, of all audiences.
 * With `lenient` (a log from which retention has pruned records is replayed) unknown ids are passed over.
 */
export function settle(draft: Draft, place: { seq: number; at: number }, found: readonly Item[], lenient = false): Settled {
  const record = draft as KnownDraft;
  switch (record.type) {
    case 'system_notification_queued': {
      if (found.some((item) => item.id === record.id)) return { kind: 'duplicate', id: record.id };
      const notification = notificationOf(record);
      const audiences = record.audience ?? [record.conversation ?? ANYONE];
      return settled(audiences.map((audience) => fresh(notification, audience, place)));
    }
    case 'system_notification_folded': {
      if (found.some((item) => item.id === record.id)) return { kind: 'duplicate', id: record.id };
      const into = found.filter((item) => item.id === record.into);
      const first = into[0];
      if (first === undefined) return lenient ? settled([]) : conflict([record.into], 'unknown');
      if (into.some((item) => item.state !== 'open'))
        return conflict([record.into], into.some((item) => item.state === 'offered') ? 'offered' : 'closed');
      if (into.some((item) => item.offers > 0)) return conflict([record.into], 'offered');
      const differs = record.differs;
      const grown = into.map((item) => ({
        ...seen(item, place),
        count: item.count + record.count,
        lastAt: place.at,
        differs: differs && isNews(differs, item.differs) ? [...item.differs, differs] : item.differs,
      }));
      const folded: Item = {
        ...fresh({ ...first.notification, id: record.id }, first.audience, place),
        state: 'closed',
        outcome: 'folded',
        gate: false,
        closedAt: place.at,
        group: [record.into],
      };
      return settled([...grown, folded]);
    }
    case 'carrier_offered': {
      const taken = take(found, [...record.ids, ...(record.summarizes ?? [])], record.conversation, lenient);
      if (taken.kind === 'conflict') return taken;
      // Offered and let go by another between the look and this append: the view would not say that it repeats.
      const unaware =
        record.view.repeated || record.reads || record.at_point === 'forced' || lenient
          ? []
          : taken.items.filter((item) => item.offers > 0 && record.ids.includes(item.id));
      if (unaware.length > 0)
        return conflict(
          unaware.map((item) => item.id),
          'offered',
        );
      const texts = new Map(record.view.items.flatMap(({ ids, text }) => ids.map((id) => [id, { text, group: ids }] as const)));
      const summarized = new Set(record.summarizes);
      return settled(
        taken.items.map((item) => {
          const rendered = texts.get(item.id);
          return {
            ...seen(item, place),
            state: 'offered',
            carrier: record.carrier,
            owner: record.owner,
            until: record.until,
            offers: summarized.has(item.id) ? item.offers : item.offers + 1,
            ...(record.conversation === undefined ? {} : { takenBy: record.conversation }),
            ...(summarized.has(item.id) ? { inSummary: true as const } : {}),
            ...(item.text === undefined && rendered ? { text: rendered.text, group: rendered.group } : {}),
          };
        }),
      );
    }
    case 'carrier_confirmed':
      return settled(
        found
          .filter((item) => item.carrier === record.carrier && item.state !== 'closed')
          .map((item) => close(item, place, item.inSummary ? 'summarized' : 'delivered')),
      );
    case 'carrier_released':
      return settled(
        found
          .filter((item) => item.carrier === record.carrier && item.state === 'offered')
          .map((item) => {
            const { owner: _owner, until: _until, inSummary, takenBy: _takenBy, ...rest } = seen(item, place);
            const open = { ...rest, state: 'open' as const };
            return NEVER_SENT.has(record.reason) && inSummary === undefined ? withoutOffer(open) : open;
          }),
      );
    case 'chat_request':
    case 'tool_call_response': {
      const ids = [...(record.notifications ?? []).map((n) => n.id), ...(record.summarizes ?? [])];
      if (ids.length === 0) return settled([]);
      const taken = take(found, ids, record.conversation, lenient);
      if (taken.kind === 'conflict') return taken;
      const texts = new Map(
        (record.view?.items ?? []).flatMap(({ ids: of, text }) => of.map((id) => [id, { text, group: of }] as const)),
      );
      const summarized = new Set(record.summarizes);
      return settled(
        taken.items.map((item) => ({
          ...close(item, place, summarized.has(item.id) ? 'summarized' : 'delivered'),
          offers: summarized.has(item.id) ? item.offers : item.offers + 1,
          ...(record.conversation === undefined ? {} : { takenBy: record.conversation }),
          ...(item.text === undefined && texts.has(item.id) ? texts.get(item.id) : {}),
        })),
      );
    }
    case 'notification_closed': {
      const mine = of(found, record.conversation);
      const missing = record.ids.filter((id) => !mine.some((item) => item.id === id));
      if (missing.length > 0 && !lenient) return conflict(missing, 'unknown');
      const alive = mine.filter((item) => item.state !== 'closed');
      const gone = record.ids.filter((id) => !missing.includes(id) && !alive.some((item) => item.id === id));
      if (gone.length > 0) return conflict(gone, 'closed');
      const held = record.outcome === 'withdrawn' ? [] : alive.filter((item) => item.state === 'offered');
      if (held.length > 0)
        return conflict(
          held.map((item) => item.id),
          'offered',
        );
      return settled(alive.map((item) => close(item, place, record.outcome)));
    }
    case 'notification_read':
      return settled(of(found, record.conversation).map((item) => ({ ...seen(item, place), read: true, gate: false })));
    case 'notification_observed':
      return settled(of(found, record.conversation).map((item) => ({ ...seen(item, place), observed: true })));
    case 'gate_refused':
      return settled(of(found, record.conversation).map((item) => seen(item, place)));
    case 'conversation_forked': {
      const to = record.conversation;
      const origins = record.ids.map((id) => ({ id, item: originOf(found, id, record.from) }));
      const missing = origins.flatMap(({ id, item }) => (item === undefined ? [id] : []));
      if (missing.length > 0 && !lenient) return conflict(missing, 'unknown');
      return settled(
        origins.flatMap(({ id, item }) =>
          // What was counted into another has no life of its own: the other one may be in the fork.
          to === undefined ||
          item === undefined ||
          item.outcome === 'folded' ||
          found.some((other) => other.id === id && other.audience === to)
            ? []
            : [forked(item, to, place)],
        ),
      );
    }
    case 'fan_out':
    case 'fan_out_done':
    case 'turn_start':
    case 'chat_response':
    case 'tool_call_request':
      return settled([]);
    default:
      record satisfies never;
      return settled([]);
  }
}

/** Replays records from nothing. Keyed by id and audience. */
export function replay(records: Iterable<{ seq: number; at: number; body: Draft }>): Map<string, Item> {
  const items = new Map<string, Item>();
  const byId = new Map<NotificationId, Set<string>>();
  const byCarrier = new Map<CarrierId, Set<string>>();
  for (const { seq, at, body } of records) {
    const need = touches(body);
    const keys = new Set([...need.ids, ...need.creates].flatMap((id) => [...(byId.get(id) ?? [])]));
    if (need.carrier) for (const key of byCarrier.get(need.carrier) ?? []) keys.add(key);
    const result = settle(
      body,
      { seq, at },
      [...keys].flatMap((key) => items.get(key) ?? []),
      true,
    );
    if (result.kind !== 'settled') continue;
    for (const item of result.items) {
      const key = itemKey(item);
      items.set(key, item);
      byId.set(item.id, (byId.get(item.id) ?? new Set()).add(key));
      if (item.carrier) byCarrier.set(item.carrier, (byCarrier.get(item.carrier) ?? new Set()).add(key));
    }
  }
  return items;
}

export const itemKey = (item: Pick<Item, 'id' | 'audience'>): string => `${item.audience}\n${item.id}`;

/** Whether a conversation of this purpose may take the item. */
export function isFor(item: Item, conversation: ConversationId, purpose: string | undefined): boolean {
  if (item.audience !== ANYONE && item.audience !== conversation) return false;
  return item.notification.purpose === undefined || purpose === undefined || item.notification.purpose === purpose;
}

/** What was rendered for it and not sent is rendered anew. */
function withoutOffer(item: Item): Item {
  if (item.offers > 1) return { ...item, offers: item.offers - 1 };
  const { text: _text, group: _group, ...rest } = item;
  return { ...rest, offers: 0 };
}

function fresh(notification: Notification, audience: ConversationId, place: { seq: number; at: number }): Item {
  return {
    id: notification.id,
    audience,
    notification,
    seq: place.seq,
    at: place.at,
    state: 'open',
    offers: 0,
    gate: isInterrupt(notification),
    read: false,
    observed: false,
    count: notification.count ?? 1,
    lastAt: place.at,
    differs: [],
    history: [place.seq],
  };
}

/** The item that a fork of `from` has its own of: that conversation's, or anyone's that it took. */
const originOf = (found: readonly Item[], id: NotificationId, from: ConversationId): Item | undefined =>
  found.find((item) => item.id === id && item.audience === from) ??
  found.find((item) => item.id === id && item.audience === ANYONE);

/** The same notification, open for another conversation: as old as it is, counted as it is, and not said yet. */
function forked(item: Item, audience: ConversationId, place: { seq: number; at: number }): Item {
  const { notification, seq, at, count, lastAt, differs } = item;
  return { ...fresh(notification, audience, { seq, at }), count, lastAt, differs, history: [seq, place.seq] };
}

const seen = (item: Item, place: { seq: number }): Item => ({ ...item, history: [...item.history, place.seq] });

/** A delivered interrupt keeps the gate up until it is read; every other end lowers it. */
function close(item: Item, place: { seq: number; at: number }, outcome: NonNullable<Item['outcome']>): Item {
  const { owner: _owner, until: _until, inSummary: _inSummary, ...rest } = seen(item, place);
  return { ...rest, state: 'closed', outcome, closedAt: place.at, gate: outcome === 'delivered' && item.gate };
}

const of = (found: readonly Item[], conversation: ConversationId | undefined): readonly Item[] =>
  conversation === undefined ? found : found.filter((item) => item.audience === conversation || item.audience === ANYONE);

/** The items that a carrier of `conversation` takes: each must be open and nobody else's. */
function take(
  found: readonly Item[],
  ids: readonly NotificationId[],
  conversation: ConversationId | undefined,
  lenient: boolean,
): { kind: 'taken'; items: Item[] } | Extract<Settled, { kind: 'conflict' }> {
  const items: Item[] = [];
  const problems: { id: NotificationId; why: 'closed' | 'offered' | 'unknown' }[] = [];
  for (const id of ids) {
    const mine = of(found, conversation).filter((item) => item.id === id);
    const open = mine.filter((item) => item.state === 'open');
    if (open.length > 0) items.push(...open);
    else if (mine.length === 0) {
      if (!lenient) problems.push({ id, why: 'unknown' });
    } else problems.push({ id, why: mine.some((item) => item.state === 'offered') ? 'offered' : 'closed' });
  }
  return problems.length > 0 ? { kind: 'conflict', ids: problems } : { kind: 'taken', items };
}

/** Each different detail is kept once, up to `MAX_DIFFERS`. */
function isNews(differs: Item['differs'][number], known: Item['differs']): boolean {
  if (known.length >= MAX_DIFFERS) return false;
  const text = JSON.stringify(differs);
  return known.every((other) => JSON.stringify(other) !== text);
}

const settled = (items: readonly Item[]): Settled => ({ kind: 'settled', items });
const conflict = (ids: readonly NotificationId[], why: 'closed' | 'offered' | 'unknown'): Settled => ({
  kind: 'conflict',
  ids: ids.map((id) => ({ id, why })),
});
