import type { ConversationId, LogKey } from '../core/address.ts';
import type { Item } from '../core/items.ts';
import type { NotificationId } from '../core/notification.ts';
import type { Decision } from '../core/plan.ts';
import { isType, type Draft, type Stored } from '../core/records.ts';
import type { Inbox } from './inbox.ts';

/** How far a notification got, or how it ended. */
export const RECEIPTS = ['queued', 'offered', 'delivered', 'observed', 'read'] as const;
export type Receipt = { readonly at: number; readonly seq: number; readonly what: string; readonly detail?: string };

/** The story of one notification for one audience. */
export type Why = {
  readonly log: LogKey;
  readonly id: NotificationId;
  readonly items: readonly {
    readonly item: Item;
    /** `queued`, `offered` …, or the outcome it ended with; `maybe_seen` when it was withdrawn after an offer. */
    readonly receipt: string;
    readonly steps: readonly Receipt[];
    /** For an open one: what a carrier of each conversation would decide now. */
    readonly now: readonly { readonly conversation: ConversationId; readonly decision: Decision }[];
  }[];
};

export async function explain(inbox: Inbox, id: NotificationId, log?: LogKey): Promise<Why | undefined> {
  const logs = log === undefined ? (await inbox.store.overview()).map((o) => o.log) : [log];
  for (const key of logs) {
    const found = await inbox.store.items(key, { kind: 'ids', ids: [id] });
    if (found.length === 0) continue;
    const items: Why['items'][number][] = [];
    for (const item of found) {
      const records = await inbox.store.read({ log: key, seqs: [...item.history], limit: item.history.length });
      items.push({
        item,
        receipt: receiptOf(item),
        steps: records.map((record) => step(record, item)),
        now: item.state === 'open' ? await decisions(inbox, key, item) : [],
      });
    }
    return { log: key, id, items };
  }
  return undefined;
}

export function receiptOf(item: Item): string {
  if (item.state === 'open') return item.offers > 0 ? 'offered' : 'queued';
  if (item.state === 'offered') return 'offered';
  if (item.outcome !== 'delivered') {
    if (item.outcome === 'summarized' && item.read) return 'read';
    return item.offers > 0 && item.outcome !== 'summarized' ? 'maybe_seen' : (item.outcome ?? 'closed');
  }
  if (item.read) return 'read';
  return item.observed ? 'observed' : 'delivered';
}

async function decisions(inbox: Inbox, log: LogKey, item: Item): Promise<{ conversation: ConversationId; decision: Decision }[]> {
  const there = (await inbox.active({ log }))
    .map((p) => p.conversation)
    .filter((c) => item.audience === '' || item.audience === c);
  const asked = there.length > 0 ? there : [item.audience === '' ? ('main' as ConversationId) : item.audience];
  const answers: { conversation: ConversationId; decision: Decision }[] = [];
  for (const conversation of asked) {
    const preview = await inbox.conversation({ log, conversation }).preview({ at: 'tool_result' });
    const decision = preview.decisions.find((d) => d.id === item.id);
    if (decision) answers.push({ conversation, decision });
  }
  return answers;
}

function step({ seq, at, body }: Stored, item: Item): Receipt {
  const detail = detailOf(body, item);
  return { at, seq, what: whatOf(body, item), ...(detail === undefined ? {} : { detail }) };
}

function whatOf(body: Draft, item: Item): string {
  if (isType(body, 'system_notification_queued')) return 'queued';
  if (isType(body, 'system_notification_folded')) return body.id === item.id ? 'folded' : 'counted';
  if (isType(body, 'carrier_offered')) return 'offered';
  if (isType(body, 'carrier_confirmed'))
    return body.late
      ? 'confirmed late'
      : body.carrier === item.carrier && item.outcome === 'summarized'
        ? 'summarized'
        : 'delivered';
  if (isType(body, 'carrier_released')) return 'released';
  if (isType(body, 'tool_call_response') || isType(body, 'chat_request')) return 'delivered';
  if (isType(body, 'notification_closed')) return body.outcome;
  if (isType(body, 'notification_observed')) return 'observed';
  if (isType(body, 'notification_read')) return 'read';
  if (isType(body, 'gate_refused')) return 'call refused';
  if (isType(body, 'conversation_forked')) return 'forked';
  return body.type;
}

function detailOf(body: Draft, item: Item): string | undefined {
  if (isType(body, 'system_notification_folded'))
    return body.id === item.id ? `counted into ${body.into}` : `${body.id}, ${item.count} in all`;
  if (isType(body, 'carrier_offered'))
    return `${body.at_point}${body.on === undefined ? '' : ` of ${body.on}`}, carrier ${body.carrier}, process ${body.owner.pid}${body.view.repeated ? ', repeated' : ''}`;
  if (isType(body, 'carrier_confirmed')) return `carrier ${body.carrier}`;
  if (isType(body, 'carrier_released')) return `${body.reason}, carrier ${body.carrier}`;
  if (isType(body, 'tool_call_response')) return `in the result of ${body.id}`;
  if (isType(body, 'chat_request')) return `in a ${body.source ?? 'user'} message`;
  if (isType(body, 'notification_closed')) return `${body.by}: ${body.reason}`;
  if (isType(body, 'notification_observed')) return body.evidence;
  if (isType(body, 'notification_read')) return body.by;
  if (isType(body, 'gate_refused')) return body.on;
  if (isType(body, 'conversation_forked')) return `${item.audience} began as ${body.from}`;
  return undefined;
}
