/** Predicts when the carriers of an agent would take an open notification, with a decision for each active conversation. */
import type { ConversationId, LogKey } from '../../core/address.ts';
import { ANYONE, type Item } from '../../core/items.ts';
import type { Decision } from '../../core/plan.ts';
import type { Presence } from '../../core/ports.ts';
import type { ContactPoint } from '../../core/records.ts';
import type { Rides } from '../../core/verdict/facts.ts';
import type { Logs } from '../context.ts';
import { Conversation } from '../conversation/conversation.ts';
import type { Carrier, Foreseen } from '../conversation/foresee.ts';

/**
 * The decision for one conversation. `rides`: the contact points at which a carrier would take the notification, if the
 * notification waits for one of them.
 */
export type Outlook = { readonly conversation: ConversationId; readonly decision: Decision; readonly rides?: Rides };

/**
 * Predicts the decision for each active conversation of the item's audience, or if none is active, for the audience itself
 * (`#main` for `ANYONE`). `more`: notifications that are not open, but are planned as if they were open. `item` may be one of
 * them.
 */
export async function outlooksOf(inbox: Logs, log: LogKey, item: Item, more: readonly Item[] = []): Promise<readonly Outlook[]> {
  const there = (await inbox.active({ log })).filter(
    ({ conversation }) => item.audience === ANYONE || item.audience === conversation,
  );
  const nobody = item.audience === ANYONE ? ('main' as ConversationId) : item.audience;
  const asked =
    there.length > 0
      ? there.map((presence) => ({ conversation: presence.conversation, carriers: carriersOf(presence) }))
      : [{ conversation: nobody, carriers: [UNKNOWN] }];
  const outlooks: Outlook[] = [];
  for (const { conversation, carriers } of asked) {
    const foreseen = await new Conversation(inbox, log, conversation).foresee(carriers, more);
    const outlook = outlookOf(foreseen, item);
    if (outlook !== undefined) outlooks.push({ conversation, ...outlook });
  }
  return outlooks;
}

const UNKNOWN: Carrier = { name: '', points: [] };

/**
 * Returns the carriers of a conversation. A gateway of an older release has reported no contact points, so its contact point here
 * is `tool_result`, which every gateway has.
 */
function carriersOf({ carriers, points = {} }: Presence): readonly Carrier[] {
  const known = Object.keys(carriers).flatMap((name): Carrier[] => {
    const its = points[name] ?? (isGateway(name) ? (['tool_result'] as const) : []);
    return its.length === 0 ? [] : [{ name, points: its }];
  });
  return known.length === 0 ? [UNKNOWN] : known;
}

const isGateway = (carrier: string): boolean => carrier.startsWith('gateway');

/**
 * Combines the decisions of all carriers. The result is one of three: a carrier takes the notification now, carriers take it at
 * certain contact points, or no carrier takes it.
 */
function outlookOf(foreseen: readonly Foreseen[], { id }: Item): Omit<Outlook, 'conversation'> | undefined {
  const all = foreseen.flatMap(({ carrier, at, decisions }) =>
    decisions.filter((decision) => decision.id === id).map((decision) => ({ carrier, at, decision })),
  );
  const waits = all.find(({ decision }) => isMoment(decision))?.decision;
  const others = all.filter(({ decision }) => !isMoment(decision));
  const best = BEST.map((kind) => others.find(({ decision }) => decision.kind === kind)?.decision).find(Boolean);
  if (best === undefined) return waits && { decision: waits };
  if (waits === undefined || best.kind !== 'take') return { decision: best };
  const taking = others.filter(({ decision }) => decision.kind === 'take');
  const points = [...new Set(taking.map(({ at }): ContactPoint => at))];
  const results = taking.filter(({ at }) => at === 'tool_result');
  const wrapped = results.length > 0 && results.every(({ carrier }) => isGateway(carrier));
  return { decision: waits, rides: { at: points, ...(wrapped ? { wrapped } : {}) } };
}

const isMoment = ({ kind, step }: Decision): boolean => kind === 'keep' && step === 'moment';
const BEST: readonly Decision['kind'][] = ['close', 'take', 'summarize', 'keep'];
