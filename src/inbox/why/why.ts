import type { ConversationId, LogKey } from '../../core/address.ts';
import { asListed } from '../../core/clocks.ts';
import { defined } from '../../core/defined.ts';
import { isOnlyCounted, type Item } from '../../core/items.ts';
import type { NotificationId } from '../../core/notification.ts';
import type { Decision } from '../../core/plan.ts';
import {
  isByAgent,
  isType,
  type Draft,
  type OfferedRecord,
  type ReleasedRecord,
  type Stored,
  type SucceededRecord,
} from '../../core/records.ts';
import type { Receipt } from '../../core/receipts.ts';
import type { Verdict } from '../../core/verdict/kinds.ts';
import { named, quoted } from '../../core/verdict/quoted.ts';
import { isPlanStep, sayLift, sayReason } from '../../core/verdict/reason.ts';
import { verdictOf } from '../../core/verdict/verdict.ts';
import { byWhom } from '../../core/verdict/words.ts';
import type { Logs } from '../context.ts';
import { EXPIRY } from '../housekeeping/sweep.ts';
import { outlooksOf } from './outlook.ts';
import { receiptOf, wasSentIn } from './receipts.ts';
import { factsOf, type Reader } from './verdict-facts.ts';

/** One step of a history. `what` and `detail` are words for people. `call`: the id of the tool call whose result carried the item. */
export type Step = {
  readonly at: number;
  readonly seq: number;
  readonly what: string;
  readonly detail?: string;
  readonly call?: string;
};

/** The history of one notification, with one entry for each audience. */
export type Why = {
  readonly log: LogKey;
  readonly id: NotificationId;
  readonly items: readonly {
    readonly item: Item;
    /** `queued`, `offered` …, or the outcome. `maybe_seen` if the notification was closed without delivery after an offer. */
    readonly receipt: Receipt;
    readonly steps: readonly Step[];
    /** Why the notification was delivered, waits or ended: one answer from all facts. */
    readonly verdict: Verdict;
    /**
     * For an open notification, the current decision for each active conversation of its audience. If none is active, the decision
     * for the audience itself.
     */
    readonly now: readonly { readonly conversation: ConversationId; readonly decision: Decision }[];
  }[];
};

export async function explain(inbox: Logs, id: NotificationId, log?: LogKey, reader?: Reader): Promise<Why | undefined> {
  const logs = log === undefined ? (await inbox.store.overview()).map((o) => o.log) : [log];
  for (const key of logs) {
    const found = await inbox.store.items(key, { kind: 'ids', ids: [id] });
    if (found.length === 0) continue;
    const items: Why['items'][number][] = [];
    for (const stored of found) {
      const records = await inbox.store.read({ log: key, seqs: [...stored.history], limit: stored.history.length });
      const item = withOwnText(stored, records);
      // A notification that was only counted in a summary is planned too, as in a pull.
      const counted = isOnlyCounted(item) ? [{ ...item, state: 'open' as const }] : [];
      const now = item.state === 'open' || counted.length > 0 ? await outlooksOf(inbox, key, item, counted) : [];
      const verdict = verdictOf(await factsOf(inbox, key, { item, records, decisions: now }, reader));
      // As in every list, an expired item is shown as expired before a sweep closes it, unless this process's clock is wrong.
      const shown = verdict.kind === 'expired' && verdict.offByMs === undefined ? asListed(item, inbox.store.now()) : item;
      items.push({
        item: shown,
        receipt: receiptOf(shown),
        verdict,
        steps: records.map((record, i) => step(record, item, wasSentIn(records.slice(0, i), item))),
        now: shown.state === 'open' ? now.map(({ conversation, decision }) => ({ conversation, decision })) : [],
      });
    }
    return { log: key, id, items };
  }
  return undefined;
}

/**
 * Returns a folded item with its own message and data. A store keeps a folded item with the notification that counts the item,
 * because the two differ only in these fields.
 */
function withOwnText(item: Item, records: readonly Stored[]): Item {
  for (const { body } of records)
    if (isType(body, 'system_notification_folded') && body.id === item.id)
      return { ...item, notification: { ...item.notification, ...body.differs } };
  return item;
}

const OVER: Readonly<Record<SucceededRecord['why'], string>> = {
  ended: 'that session ended',
  died: 'the process of that session has exited',
  silent: 'that session made no contact for 30 minutes',
  merged: 'both are one session',
};

/** Says why a carrier was released. A record of a newer release may have another reason. */
const RELEASED: Readonly<Record<string, string>> = {
  cancelled: 'the client cancelled the call',
  write_error: 'the answer could not be written',
  client_died: 'the client was killed right after the answer was written',
  too_big: 'the answer was too big',
  late: 'the answer came too late',
  owner_dead: 'the sending process has exited',
  lease_expired: 'the client did not confirm the delivery in time',
  shutdown: 'the sending process was shut down',
  unproven: 'the model did not read the message',
} satisfies Readonly<Record<ReleasedRecord['reason'], string>>;

const offeredAt = ({ at_point: point, on }: OfferedRecord): string =>
  on === undefined ? point : point === 'forced' ? `in place of a call of ${named(on)}` : `${point} of ${named(on)}`;

function step({ seq, at, body, log }: Stored, item: Item, sentBefore: boolean): Step {
  const detail = detailOf(body, item, { log, sentBefore });
  const call = isType(body, 'tool_call_response') ? body.id : undefined;
  return { at, seq, what: whatOf(body, item), ...defined({ detail, call }) };
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
  if (isType(body, 'carrier_redacted')) return 'left out';
  if (isType(body, 'notification_observed')) return 'observed';
  if (isType(body, 'notification_read')) return isByAgent(body) ? 'read' : 'marked as read';
  if (isType(body, 'gate_refused')) return body.made ? 'result withheld' : 'call refused';
  if (isType(body, 'gate_lifted')) return 'gate lowered';
  if (isType(body, 'conversation_forked')) return 'forked';
  if (isType(body, 'conversation_succeeded')) return 'passed on';
  if (isType(body, 'notification_extended')) return 'joined';
  return body.type;
}

function detailOf(
  body: Draft,
  item: Item,
  { log, sentBefore }: { readonly log: LogKey; readonly sentBefore: boolean },
): string | undefined {
  if (isType(body, 'system_notification_folded'))
    return body.id === item.id ? `counted into ${named(body.into)}` : `${named(body.id)}; ${item.count} notifications in all`;
  if (isType(body, 'carrier_offered'))
    return `${offeredAt(body)}, carrier ${named(body.carrier)}, process ${body.owner.pid}${body.view.repeated && sentBefore ? ', repeated' : ''}`;
  if (isType(body, 'carrier_confirmed')) return `carrier ${named(body.carrier)}`;
  if (isType(body, 'carrier_released')) return `${RELEASED[body.reason] ?? body.reason}, carrier ${named(body.carrier)}`;
  if (isType(body, 'tool_call_response')) return `in the result of ${named(body.id)}`;
  if (isType(body, 'chat_request')) return `in a ${body.source ?? 'user'} message`;
  if (isType(body, 'notification_closed'))
    return isPlanStep(body.by) ? sayReason(body) : `${byWhom(body.by)}: ${sayReason(body)}`;
  if (isType(body, 'carrier_redacted'))
    return `the provider refused the request ${body.refusals ?? 1} times with the notification, and accepted the request without the notification: ${quoted(body.reason)}`;
  if (isType(body, 'notification_observed')) return body.evidence;
  if (isType(body, 'notification_read')) {
    const by = isByAgent(body) ? body.by : `by ${byWhom(body.by)}`;
    return body.holds ? `${by}; the pause holds` : by;
  }
  if (isType(body, 'gate_refused')) {
    const tool = named(body.on);
    const on = body.made ? `${tool}: the call was made, and the agent got the interrupt afterwards` : tool;
    return body.times === undefined ? on : `${on}, ${body.times} times`;
  }
  if (isType(body, 'gate_lifted')) return `${byWhom(body.by)}: ${sayLift(body, EXPIRY)}`;
  if (isType(body, 'conversation_forked')) return `${named(item.audience)} began as ${named(body.from)}`;
  if (isType(body, 'conversation_succeeded'))
    return `from ${named(`${log}#${body.from}`)} to ${named(`${log}#${body.conversation ?? item.audience}`)}: ${OVER[body.why]}`;
  if (isType(body, 'notification_extended')) return `${named(`#${body.conversation ?? item.audience}`)}: ${body.reason}`;
  return undefined;
}
