/** Finds the proof that a model has read an interrupt that arrived in a message and not in a refusal. */
import type { Item } from '../../core/items.ts';
import type { ContactPoint, OfferedRecord } from '../../core/records.ts';

/**
 * The contact points at which no call runs. Every call after a message at such a point answers a model request that contains the
 * message.
 */
const BEFORE_CALLS: ReadonlySet<ContactPoint> = new Set(['turn_start', 'tool_batch_end', 'turn_end', 'idle']);

/**
 * Describes the proof that the model has read a critical notification or a cancel. The proof is that the host's transcript shows
 * the interrupt in a message before any call of the running batch. Undefined without this proof, and for a pause, which only a
 * person lifts.
 */
export function readBefore(
  { notification, state, observed, carrier }: Item,
  offers: readonly { readonly body: OfferedRecord }[],
): string | undefined {
  if (notification.action === 'pause' || state !== 'closed' || !observed) return undefined;
  const at = offers.findLast(({ body }) => body.carrier === carrier)?.body.at_point;
  return at !== undefined && BEFORE_CALLS.has(at) ? `the transcript shows the interrupt (${at})` : undefined;
}
