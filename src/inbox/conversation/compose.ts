/** Composes one carrier: plans which open items of a conversation the carrier takes, and renders these items as a view. */
import type { ConversationId } from '../../core/address.ts';
import { countsOf } from '../../core/counts.ts';
import { defined } from '../../core/defined.ts';
import { itemKey, type Item } from '../../core/items.ts';
import { plan } from '../../core/make-plan.ts';
import { isInterrupt, type NotificationId } from '../../core/notification.ts';
import type { Decision, Plan } from '../../core/plan.ts';
import type { ClosedRecord, SentView } from '../../core/records.ts';
import type { Claim } from './claim.ts';
import { factsFor, type CarryOptions } from './facts.ts';
import { newestOf, type Overtaken } from './overtaken.ts';
import type { Parts } from './parts.ts';
import { formatOf, isSignal, policyOf } from './recipient.ts';
import { releaseStale } from './stale.ts';

export type Composed = {
  readonly items: readonly Item[];
  /** The notifications that the carrier takes. */
  readonly ids: readonly NotificationId[];
  readonly summarizes: readonly NotificationId[];
  /** The counts in the view, of `ids` and then of `summarizes`. */
  readonly counts: readonly number[];
  readonly closings: readonly Closing[];
  /** All notifications of `closings`. */
  readonly closedIds: ReadonlySet<NotificationId>;
  readonly decisions: readonly Decision[];
  readonly view?: SentView;
  /** Whether the view explains the mark. */
  readonly explains: boolean;
};

/**
 * A closing that the plan decides. `newer`: the newer state, if the older states close only with the delivery of the newer state
 * (see `olderClosings`). `gates`: true if the older states are interrupts.
 */
export type Closing = { readonly record: ClosedRecord; readonly newer?: NotificationId; readonly gates: boolean };

/** Selects the closings that wait for no carrier. */
export const closedAtOnce = (closings: readonly Closing[]): readonly ClosedRecord[] =>
  closings.flatMap(({ record, newer }) => (newer === undefined ? [record] : []));

export type Composing = CarryOptions & {
  /** Whether another program owns the transcript. */
  readonly leased: boolean;
  /** If true, `compose` makes only the decisions, and no view. */
  readonly decidesOnly?: boolean;
  /** If true, the times of first sightings are not stored (see `sightings`). */
  readonly dry?: boolean;
  /** The claims of earlier attempts. */
  readonly claim?: Claim;
  /** Whether the model asks for the notifications, so that nothing waits for a contact point, a tool or a turn. */
  readonly onDemand?: true;
  /** Items that were only counted in a summary. The plan decides about these items too, as if they were open. */
  readonly counted?: readonly Item[];
};

const NOTHING: Composed = {
  items: [],
  ids: [],
  summarizes: [],
  counts: [],
  closings: [],
  closedIds: new Set(),
  decisions: [],
  explains: false,
};

export async function compose(
  { recipient, contact, frames }: Parts,
  { leased, decidesOnly = false, dry = false, claim, onDemand, counted = [], ...options }: Composing,
): Promise<Composed> {
  const { open, overtaken } = await openItems({ recipient, contact }, { claim, dry });
  const items = counted.length === 0 ? open : asOpen(open, counted);
  if (items.length === 0) return NOTHING;

  const { id } = recipient;
  const policy = policyOf(recipient);
  const now = recipient.context.store.now();
  const facts = { ...(await factsFor({ recipient, contact }, items, { ...options, dry, overtaken })), ...defined({ onDemand }) };
  const format = formatOf(recipient);
  // In another program's transcript, a signal view takes no notifications: it only says that notifications wait, and the model
  // pulls them.
  const unframed = decidesOnly || (leased && isSignal(format));
  const made = unframed
    ? plan(items, options.at, policy, facts, now)
    : await frames.plan(items, options.at, { policy, facts, now });
  const known = [...items, ...(claim?.items ?? [])];
  const closings = closingsOf(made, id, { items: known, counted });
  const closedIds = new Set(closings.flatMap(({ record }) => record.ids));
  const ids = made.lines.flatMap((line) => line.ids);
  const decided = { items, closings, closedIds, decisions: made.decisions };
  if (ids.length === 0 || unframed) return { ...decided, ids: [], summarizes: [], counts: [], explains: false };
  const summarizes = made.rest?.ids ?? [];
  const counts = countsOf(known, [...ids, ...summarizes]);
  return { ...decided, ids, summarizes, counts, ...(await frames.of(made, policy, format)) };
}

/**
 * Returns the open notifications that this conversation may take, after the release of leases that have ended or whose owner is
 * dead. An older state waits while another carrier holds a newer state, because that carrier may be released. With `dry`, the older
 * state is returned, and `overtaken` predicts its end.
 */
export async function openItems(
  { recipient, contact }: Pick<Parts, 'recipient' | 'contact'>,
  { claim, dry }: { readonly claim?: Claim | undefined; readonly dry: boolean },
): Promise<{ readonly open: readonly Item[]; readonly overtaken?: Overtaken }> {
  const { context, log, id } = recipient;
  const { store } = context;
  if (context.unwritten) await context.written();
  let all = await store.items(log, { kind: 'open', conversation: id });
  if (all.length === 0) return { open: [] };
  if (await releaseStale(context, log, all)) all = await store.items(log, { kind: 'open', conversation: id });
  const open = await contact.mine(claim?.openOf(all) ?? all.filter((item) => item.state === 'open'));
  const mine = new Set(open.map(itemKey));
  const offered = all.filter(
    (item) => item.state === 'offered' && item.notification.supersede === true && !mine.has(itemKey(item)),
  );
  if (offered.length === 0) return { open };
  const overtaken = newestOf(open, offered, { id, purpose: await contact.purpose() });
  return dry ? { open, overtaken } : { open: open.filter((item) => overtaken[item.id] === undefined) };
}

/** Adds the items that were only counted in a summary to the open items, in the order of their records. */
const asOpen = (open: readonly Item[], counted: readonly Item[]): readonly Item[] =>
  [...open, ...counted.map((item) => ({ ...item, state: 'open' as const }))].toSorted((a, b) => a.seq - b.seq);

/** Makes one closing record for each outcome and cause. */
function closingsOf(
  { decisions, newer: newerOf }: Plan,
  conversation: ConversationId,
  { items, counted }: { readonly items: readonly Item[]; readonly counted: readonly Item[] },
): readonly Closing[] {
  const summarized = new Set(counted.map((item) => item.id));
  const interrupts = new Set(items.filter(({ notification }) => isInterrupt(notification)).map(({ id }) => id));
  const groups = new Map<string, Group>();
  for (const decision of decisions) {
    if (decision.kind !== 'close') continue;
    const { id, outcome, cause, reason, step } = decision;
    const newer = newerOf.get(id);
    const gates = interrupts.has(id);
    const key = `${gates} ${newer === undefined} ${outcome} ${JSON.stringify(cause)}`;
    const group = groups.get(key);
    if (group) group.ids.push(id);
    else groups.set(key, { outcome, cause, reason, step, ids: [id], newer, gates });
  }
  return [...groups.values()].map(({ outcome, cause, reason, step, ids, newer, gates }) => ({
    record: {
      type: 'notification_closed',
      conversation,
      ids,
      // If another notification is folded into an item after the plan, the append must fail, because the agent may not know the
      // newer fact.
      ...(outcome === 'known' ? { counts: countsOf(items, ids) } : {}),
      ...(ids.some((each) => summarized.has(each)) ? { summarized: true as const } : {}),
      outcome,
      by: step,
      cause,
      reason,
    },
    ...defined({ newer }),
    gates,
  }));
}

type Group = Pick<Extract<Decision, { kind: 'close' }>, 'outcome' | 'cause' | 'reason' | 'step'> & {
  readonly ids: NotificationId[];
  readonly newer: NotificationId | undefined;
  readonly gates: boolean;
};
