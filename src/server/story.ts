/** Converts the history of one notification and its deliveries to the types of the API. */
import type { Sent, Story, StoryItem } from '../wire/api.ts';
import { causeIn, reasonIn } from '../core/cause.ts';
import { defined } from '../core/defined.ts';
import type { Item } from '../core/items.ts';
import type { NotificationId } from '../core/notification.ts';
import { isType, type SentView, type Stored } from '../core/records.ts';
import { wasSentIn, type Inbox, type Why } from '../inbox/index.ts';
import { notificationView } from './shown.ts';

/** The maximum number of records that are read for one item of a story. Repeated refusals may have written many records. */
const MAX_HISTORY = 300;

/** Decides which parts of a story its reader may see, because the view of a carrier also contains other notifications. */
export type Sight = {
  readonly item: (item: Item) => boolean;
  readonly record: (record: Stored) => boolean;
  readonly conversation: (conversation: string) => boolean;
};

export async function storyOf(inbox: Inbox, why: Why, sees: Sight): Promise<Story> {
  const items = why.items.filter(({ item }) => sees.item(item));
  return {
    log: why.log,
    id: why.id,
    items: await Promise.all(
      items.map(async ({ item, verdict, steps, now }): Promise<StoryItem> => {
        const records = await inbox.store.read({ log: why.log, seqs: item.history.slice(-MAX_HISTORY), limit: MAX_HISTORY });
        const others = new Set(records.flatMap((record) => (sees.record(record) ? [] : [record.seq])));
        // If some records were not read, one of them may have delivered the notification.
        const isWhole = item.history.length <= MAX_HISTORY;
        return {
          notification: notificationView(why.log, item, inbox.store.now()),
          verdict,
          steps: steps.flatMap(({ at, seq, what, detail, call }) =>
            others.has(seq) ? [] : [{ at, seq, what, detail: detail ?? null, call: call ?? null }],
          ),
          ended: endedBy(records),
          now: now.flatMap(({ conversation, decision }) => (sees.conversation(conversation) ? [{ conversation, decision }] : [])),
          sent: records.flatMap((record, place) => {
            if (others.has(record.seq)) return [];
            const before = records.slice(0, place);
            return sentIn(record, item, { last: before.at(-1), sentBefore: !isWhole || wasSentIn(before, item) });
          }),
        };
      }),
    ),
  };
}

function endedBy(records: readonly Stored[]): StoryItem['ended'] {
  for (const { at, body } of records)
    if (isType(body, 'notification_closed'))
      return { outcome: body.outcome, by: body.by, ...defined({ cause: causeIn(body) }), reason: reasonIn(body), at };
  return null;
}

type Before = {
  /** The previous record that concerns the notification. */
  readonly last: Stored | undefined;
  readonly sentBefore: boolean;
};

function sentIn({ seq, at, body }: Stored, { id }: Pick<Item, 'id'>, { last, sentBefore }: Before): Sent[] {
  const base = { seq, at, record: body.type, conversation: body.conversation ?? null };
  // A frame is marked as repeated if any of its items is repeated, so this item may still be new.
  const shown = (view: SentView): Pick<Sent, 'format' | 'item' | 'text' | 'repeated'> => ({
    format: view.format,
    item: itemText(view.items, id),
    text: view.text,
    repeated: view.repeated === true && sentBefore,
  });
  if (isType(body, 'carrier_offered') && body.ids.includes(id))
    return [{ ...base, point: body.at_point, on: body.on ?? null, ...shown(body.view) }];
  if (isType(body, 'tool_call_response') && body.view !== undefined)
    return [{ ...base, point: 'tool_result', on: body.id, ...shown(body.view) }];
  if (isType(body, 'chat_request') && body.view !== undefined)
    return [{ ...base, point: 'turn_start', on: null, ...shown(body.view) }];
  if (isType(body, 'gate_refused') && body.text !== undefined && !isOfferOf(last, seq, body.text))
    return [{ ...base, point: 'forced', on: body.on, format: null, item: body.text, text: body.text, repeated: sentBefore }];
  return [];
}

/**
 * Whether the refusal belongs to the offer before it. The first refusal is written as two records, an offer and a refusal, which
 * are one answer.
 */
const isOfferOf = (last: Stored | undefined, seq: number, text: string): boolean =>
  last?.seq === seq - 1 && isType(last.body, 'carrier_offered') && last.body.view.text === text;

const itemText = (items: SentView['items'], id: NotificationId): string => items.find(({ ids }) => ids.includes(id))?.text ?? '';
