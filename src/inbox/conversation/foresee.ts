/** Predicts the decisions of a conversation's carriers about its open notifications, with the same plan as the carriers. */
import type { Item } from '../../core/items.ts';
import { plan } from '../../core/make-plan.ts';
import type { Decision, Said } from '../../core/plan.ts';
import type { ContactPoint } from '../../core/records.ts';
import { openItems } from './compose.ts';
import { factsFor } from './facts.ts';
import type { Parts } from './parts.ts';
import { formatOf, isSignal, policyOf } from './recipient.ts';

/** A carrier of the conversation. `points`: the contact points that the carrier reported, if any. */
export type Carrier = { readonly name: string; readonly points: readonly ContactPoint[] };

/** The decisions of one carrier at one of its contact points. */
export type Foreseen = {
  readonly carrier: string;
  readonly at: ContactPoint;
  readonly decisions: readonly Decision[];
};

/**
 * Predicts the decisions of each carrier. `more`: notifications that are not open, but are planned as if they were open. Writes
 * no record.
 */
export async function foresee(
  { recipient, contact, frames }: Parts,
  carriers: readonly Carrier[],
  more: readonly Item[] = [],
): Promise<readonly Foreseen[]> {
  const { open, overtaken } = await openItems({ recipient, contact }, { dry: true });
  const items = [...open, ...(await contact.mine(more))].toSorted((a, b) => a.seq - b.seq);
  if (items.length === 0) return [];
  const policy = policyOf(recipient);
  const now = recipient.context.store.now();
  const facts = await factsFor({ recipient, contact }, items, { at: 'tool_result', dry: true, overtaken });
  const said = new Map<string, Said>();
  // Templates are rendered except in two cases: the template of a notification in `more` is unknown, and a signal view shows no
  // texts.
  const unframed = more.length > 0 || isSignal(formatOf(recipient));
  const foreseen: Foreseen[] = [];
  for (const { name, points } of carriers)
    for (const at of pointsOf(points)) {
      const known = { ...facts, points };
      const { decisions } = unframed
        ? plan(items, at, policy, known, now)
        : await frames.plan(items, at, { policy, facts: known, now }, said);
      foreseen.push({ carrier: name, at, decisions });
    }
  return foreseen;
}

/**
 * Omits `forced`: only an interrupt causes this contact point, and an interrupt waits for no contact point. Default:
 * `tool_result`.
 */
function pointsOf(points: readonly ContactPoint[]): readonly ContactPoint[] {
  const usual = points.filter((point) => point !== 'forced');
  return usual.length === 0 ? ['tool_result'] : usual;
}
