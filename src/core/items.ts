/**
 * Defines the effect of each record on the items of its log. Pure. Only this file and `passing.ts` know these effects. A store
 * keeps `Item`s as an index of the log and changes them only through `settle`. Replaying any prefix of a log therefore gives the
 * items that the store had at that time.
 *
 * An item is one notification for one audience: a conversation, or `ANYONE` (the agent's first conversation that carries
 * notifications).
 *
 *   open ──offered──▶ offered ──confirmed──▶ closed (delivered | summarized)
 *    ▲                  │ └──withdrawn──▶ closed (withdrawn; the model may have seen it)
 *    └────released──────┘
 *   open ──own transcript's carrier──▶ closed (delivered | summarized)
 *   closed (summarized), not read ──notification_closed with `summarized`──▶ closed (its outcome)
 *   open ──notification_closed──▶ closed (its outcome);   new ──folded into an open item──▶ closed (folded)
 *   closed (delivered | summarized), neither read nor observed ──released as unproven──▶ open
 *   closed (delivered | summarized) ──the provider takes the request only without it──▶ closed (left_out)
 *
 * A closed item stays closed, except for an unproven delivery. When a conversation ends, its heir takes over the unread items
 * (`passing.ts`).
 */
import type { ConversationId } from './address.ts';
import { countedSince } from './counts.ts';
import { defined } from './defined.ts';
import { ANYONE, fresh, isOnlyCounted, itemKey, lastOfEach, MAX_DIFFERS, seen, shownBy, type Item } from './item.ts';
import { isInterrupt, type NotificationId } from './notification.ts';
import { extendedTo, forkedFrom, passedOn, putItem, type Passing } from './passing.ts';
import type { CarrierId, Draft, KnownDraft, OfferedRecord, ReleasedRecord, Stored } from './records.ts';
import { isByAgent, notificationOf } from './records.ts';

export { ANYONE, isOnlyCounted, itemKey, type Item } from './item.ts';
export { formerOf, holderOf, isShownFirst, putItem } from './passing.ts';

/** The release reasons for a carrier whose message was sent without the view, so that the model cannot have seen the view. */
export const NEVER_SENT: ReadonlySet<string> = new Set(['late', 'too_big'] satisfies ReleasedRecord['reason'][]);

/** The items that `settle` needs for a record, by id or by carrier. `creates`: the ids of new items. */
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
      return { ids: [...record.ids, ...(record.summarizes ?? []), ...(record.shows ?? [])], creates: [] };
    case 'carrier_confirmed':
    case 'carrier_released':
      return { ids: [], carrier: record.carrier, creates: [] };
    case 'carrier_redacted':
      return record.refusals === undefined ? NOTHING : { ids: record.ids, creates: [] };
    case 'notification_observed':
    case 'notification_read':
    case 'notification_closed':
    case 'gate_refused':
    case 'gate_lifted':
    case 'conversation_forked':
    case 'conversation_succeeded':
    case 'notification_extended':
      return { ids: record.ids, creates: [] };
    case 'chat_request':
    case 'tool_call_response': {
      const ids = [...(record.notifications ?? []).map((n) => n.id), ...(record.summarizes ?? [])];
      return ids.length === 0 ? NOTHING : { ids, creates: [] };
    }
    case 'fan_out':
    case 'fan_out_part':
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

/** The place of a record: its position, its time, and the writer's clock if that clock is behind. */
export type Place = Pick<Stored, 'seq' | 'at' | 'clock'>;

export type Settled =
  | { readonly kind: 'settled'; readonly items: readonly Item[] }
  /** The log already has a notification with this id, so the record changes nothing. */
  | { readonly kind: 'duplicate'; readonly id: NotificationId }
  /**
   * Each `why` gives the problem of an id. `closed`: the item is no longer open. `offered`: the item is or was in an offer that
   * the draft does not take into account. `unknown`: this log has no such item. `counted`: the item counts more notifications
   * than the draft's `counts`.
   */
  | { readonly kind: 'conflict'; readonly ids: readonly { readonly id: NotificationId; readonly why: Why }[] };
type Why = 'closed' | 'offered' | 'unknown' | 'counted';

/**
 * Applies `draft` to the items that it touches, and returns only the changed and new items, each once. `found` must contain the items of all
 * audiences that match `touches(draft)`. `lenient`: for the replay of a log whose old records were pruned. `settle` then skips
 * unknown ids, and does not check the counts and the marks of repeated items.
 */
export function settle(draft: Draft, place: Place, found: readonly Item[], lenient = false): Settled {
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
      // The items are sorted, because an index and a replay return the items in different orders.
      const into = found.filter((item) => item.id === record.into).toSorted((a, b) => (a.audience < b.audience ? -1 : 1));
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
      const taken = take(found, [...record.ids, ...(record.summarizes ?? [])], record, lenient);
      if (taken.kind === 'conflict') return taken;
      if (!record.reads && record.at_point !== 'forced' && !lenient) {
        const unaware = unflagged(record, taken.items);
        if (unaware.length > 0) return conflict(unaware, 'offered');
      }
      const texts = new Map(record.view.items.flatMap(({ ids, text }) => ids.map((id) => [id, { text, group: ids }] as const)));
      const summarized = new Set(record.summarizes);
      const shown = of(found, record.conversation).filter((item) => record.shows?.includes(item.id) && item.state !== 'open');
      return settled([
        ...shown.map((item) => ({ ...seen(item, place), offers: item.offers + 1 })),
        ...taken.items.map((item) => {
          const rendered = texts.get(item.id);
          return {
            ...seen(item, place),
            state: 'offered',
            carrier: record.carrier,
            owner: record.owner,
            until: record.until,
            offers: summarized.has(item.id) ? item.offers : item.offers + 1,
            ...defined({ takenBy: record.conversation }),
            ...(summarized.has(item.id) ? { inSummary: true as const } : {}),
            ...(rendered === undefined ? {} : textAfterOffer(item, rendered)),
          } as const;
        }),
      ]);
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
          .filter((item) => item.carrier === record.carrier && (item.state === 'offered' || isUnproven(item, record)))
          .map((item) => {
            const {
              owner: _owner,
              until: _until,
              inSummary,
              takenBy: _takenBy,
              outcome,
              closedAt: _at,
              ...rest
            } = seen(item, place);
            const gate = outcome === undefined ? item.gate : isInterrupt(item.notification);
            const open = { ...rest, gate, state: 'open' as const };
            return NEVER_SENT.has(record.reason) && inSummary === undefined ? withoutOffer(open) : open;
          }),
      );
    case 'chat_request':
    case 'tool_call_response': {
      const ids = [...(record.notifications ?? []).map((n) => n.id), ...(record.summarizes ?? [])];
      if (ids.length === 0) return settled([]);
      const taken = take(found, ids, record, lenient);
      if (taken.kind === 'conflict') return taken;
      const texts = new Map(
        (record.view?.items ?? []).flatMap(({ ids: of, text }) => of.map((id) => [id, { text, group: of }] as const)),
      );
      const summarized = new Set(record.summarizes);
      return settled(
        taken.items.map((item) => {
          const rendered = texts.get(item.id);
          return {
            ...close(item, place, summarized.has(item.id) ? 'summarized' : 'delivered'),
            offers: summarized.has(item.id) ? item.offers : item.offers + 1,
            ...defined({ takenBy: record.conversation }),
            ...(rendered === undefined ? {} : textAfterOffer(item, rendered)),
          };
        }),
      );
    }
    case 'notification_closed': {
      const mine = of(found, record.conversation);
      const missing = record.ids.filter((id) => !mine.some((item) => item.id === id));
      if (missing.length > 0 && !lenient) return conflict(missing, 'unknown');
      const alive = mine.filter((item) => item.state !== 'closed' || (record.summarized === true && isOnlyCounted(item)));
      const gone = record.ids.filter((id) => !missing.includes(id) && !alive.some((item) => item.id === id));
      if (gone.length > 0) return conflict(gone, 'closed');
      const held = record.outcome === 'withdrawn' ? [] : alive.filter((item) => item.state === 'offered');
      if (held.length > 0)
        return conflict(
          held.map((item) => item.id),
          'offered',
        );
      const news = lenient ? [] : countedSince(alive, record.ids, record.counts);
      if (news.length > 0) return conflict(news, 'counted');
      return settled(alive.map((item) => close(item, place, record.outcome)));
    }
    case 'carrier_redacted':
      return settled(
        of(found, record.conversation)
          .filter((item) => item.state === 'closed' && (item.outcome === 'delivered' || item.outcome === 'summarized'))
          .map((item) => ({
            ...seen(item, place),
            outcome: 'left_out',
            // The model can no longer read the notification, so its gate is lowered. A pause keeps the gate up until a person
            // lifts the pause.
            gate: item.gate && item.notification.action === 'pause',
          })),
      );
    case 'notification_read':
      return settled(
        of(found, record.conversation).map(({ markedBy, ...item }) => ({
          ...seen(item, place),
          read: true,
          ...(isByAgent(record) || (item.read && markedBy === undefined) ? {} : { markedBy: record.by }),
          gate: record.holds === true && item.gate,
        })),
      );
    case 'gate_lifted':
      return settled(of(found, record.conversation).map((item) => ({ ...seen(item, place), gate: false })));
    case 'notification_observed':
      return settled(of(found, record.conversation).map((item) => ({ ...seen(item, place), observed: true })));
    case 'gate_refused':
      return settled(of(found, record.conversation).map((item) => shownBy(record, seen(item, place))));
    case 'conversation_forked':
      return outcome(forkedFrom(record, place, found, lenient));
    case 'notification_extended':
      return outcome(extendedTo(record, place, found, lenient));
    case 'conversation_succeeded':
      return outcome(passedOn(record, place, found, lenient));
    case 'fan_out':
    case 'fan_out_part':
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

/** Replays records from an empty state. Returns the items by `itemKey`. */
export function replay(records: Iterable<Place & { readonly body: Draft }>): Map<string, Item> {
  const items = new Map<string, Item>();
  const byId = new Map<NotificationId, Set<string>>();
  const byCarrier = new Map<CarrierId, Set<string>>();
  for (const { seq, at, clock, body } of records) {
    const need = touches(body);
    const keys = new Set([...need.ids, ...need.creates].flatMap((id) => [...(byId.get(id) ?? [])]));
    if (need.carrier) for (const key of byCarrier.get(need.carrier) ?? []) keys.add(key);
    const result = settle(
      body,
      { seq, at, ...defined({ clock }) },
      [...keys].flatMap((key) => items.get(key) ?? []),
      true,
    );
    if (result.kind !== 'settled') continue;
    for (const item of result.items) {
      const key = itemKey(item);
      putItem(items, item);
      byId.set(item.id, (byId.get(item.id) ?? new Set()).add(key));
      if (item.carrier) byCarrier.set(item.carrier, (byCarrier.get(item.carrier) ?? new Set()).add(key));
    }
  }
  return items;
}

/** Whether a conversation of this purpose may take the item. */
export function isFor(item: Item, conversation: ConversationId, purpose: string | undefined): boolean {
  if (item.audience !== ANYONE && item.audience !== conversation) return false;
  return item.notification.purpose === undefined || purpose === undefined || item.notification.purpose === purpose;
}

/**
 * Returns the text of an item after an offer. The item keeps its first text until another item of its line closes. The remaining
 * items of the line then get a new text.
 */
function textAfterOffer(item: Item, rendered: Required<Pick<Item, 'text' | 'group'>>): Pick<Item, 'text' | 'group'> {
  const isPart = (item.group?.length ?? 0) > rendered.group.length;
  // Older releases copied the text of the whole line into a re-offer.
  return item.text === undefined || (isPart && rendered.text !== item.text) ? rendered : {};
}

const isUnproven = (item: Item, { reason }: ReleasedRecord): boolean =>
  reason === 'unproven' &&
  item.state === 'closed' &&
  (item.outcome === 'delivered' || item.outcome === 'summarized') &&
  !item.read &&
  !item.observed;

/**
 * Subtracts an offer that was not sent. An item without an earlier offer also loses its text, so the next offer renders the item.
 */
function withoutOffer(item: Item): Item {
  if (item.offers > 1) return { ...item, offers: item.offers - 1 };
  const { text: _text, group: _group, ...rest } = item;
  return { ...rest, offers: 0 };
}

/**
 * Closes an item. The outcome `delivered` leaves `gate` as it was: a later record, such as `notification_read`, lowers the gate.
 * Every other outcome lowers the gate.
 */
function close(item: Item, place: { seq: number; at: number }, outcome: NonNullable<Item['outcome']>): Item {
  const { owner: _owner, until: _until, inSummary: _inSummary, ...rest } = seen(item, place);
  return { ...rest, state: 'closed', outcome, closedAt: place.at, gate: outcome === 'delivered' && item.gate };
}

const of = (found: readonly Item[], conversation: ConversationId | undefined): readonly Item[] =>
  conversation === undefined
    ? found
    : found.filter(
        ({ audience, merged, passedFrom }) =>
          audience === conversation || audience === ANYONE || (merged === true && passedFrom === conversation),
      );

/**
 * Returns the items of a view that were offered before, but are not marked as repeated in the view. Another process offered and
 * released these items while this view was rendered. In a version before 0.1.0, one mark applies to the whole view.
 */
function unflagged({ ids, view }: OfferedRecord, taken: readonly Item[]): NotificationId[] {
  const flagged = view.items.flatMap((line) => (line.repeated ? line.ids : []));
  if (view.repeated && flagged.length === 0) return [];
  return taken.filter(({ id, offers }) => offers > 0 && ids.includes(id) && !flagged.includes(id)).map(({ id }) => id);
}

/**
 * Takes items for a carrier of `conversation`. Each item must be open and not offered, and must not count more notifications than
 * the carrier's text.
 */
function take(
  found: readonly Item[],
  ids: readonly NotificationId[],
  { conversation, counts }: Pick<OfferedRecord, 'conversation' | 'counts'>,
  lenient: boolean,
): { kind: 'taken'; items: Item[] } | Extract<Settled, { kind: 'conflict' }> {
  const items: Item[] = [];
  const problems: { id: NotificationId; why: Why }[] = [];
  for (const id of ids) {
    const mine = of(found, conversation).filter((item) => item.id === id);
    const open = mine.filter((item) => item.state === 'open');
    if (open.length > 0) for (const item of open) items.push(item);
    else if (mine.length === 0) {
      if (!lenient) problems.push({ id, why: 'unknown' });
    } else problems.push({ id, why: mine.some((item) => item.state === 'offered') ? 'offered' : 'closed' });
  }
  if (!lenient) problems.push(...countedSince(items, ids, counts).map((id) => ({ id, why: 'counted' as const })));
  return problems.length > 0 ? { kind: 'conflict', ids: problems } : { kind: 'taken', items };
}

/** Whether the item should keep this detail: it is new, and fewer than `MAX_DIFFERS` are kept. */
function isNews(differs: Item['differs'][number], known: Item['differs']): boolean {
  if (known.length >= MAX_DIFFERS) return false;
  const text = JSON.stringify(differs);
  return known.every((other) => JSON.stringify(other) !== text);
}

const outcome = (passing: Passing): Settled => (passing.kind === 'conflict' ? passing : settled(passing.items));
const settled = (items: readonly Item[]): Settled => ({ kind: 'settled', items: lastOfEach(items) });
const conflict = (ids: readonly NotificationId[], why: Why): Settled => ({
  kind: 'conflict',
  ids: ids.map((id) => ({ id, why })),
});
