/** Gathers the facts that a plan needs in addition to the items. */
import { isDue, isExpired, queuedAt, waitedMs } from '../../core/clocks.ts';
import { defined } from '../../core/defined.ts';
import type { Item } from '../../core/items.ts';
import { NO_FACTS, type Facts } from '../../core/make-plan.ts';
import type { ContactPoint } from '../../core/records.ts';
import { mutesOf } from '../producing/mutes.ts';
import { transcriptOf } from './fork.ts';
import { overtaken, type Overtaken } from './overtaken.ts';
import type { Parts } from './parts.ts';
import { policyOf, type Recipient } from './recipient.ts';
import { sightings } from './sightings.ts';

export type CarryOptions = {
  readonly at: ContactPoint;
  /** Facts that the agent learned by itself: each `about` with its time (epoch ms). */
  readonly known?: Readonly<Record<string, number>>;
  /** The tools whose results the carrier contains or directly follows. */
  readonly tools?: readonly string[];
};

/** Gathers the facts. With `dry`, nothing is written. `overtaken`: older states whose newer state another carrier holds. */
export async function factsFor(
  { recipient, contact }: Pick<Parts, 'recipient' | 'contact'>,
  items: readonly Item[],
  {
    known = {},
    tools,
    dry,
    overtaken: held,
  }: CarryOptions & { readonly dry: boolean; readonly overtaken?: Overtaken | undefined },
): Promise<Facts> {
  const found = await overtaken(recipient, items, (some) => contact.mine(some));
  return {
    ...(await dueFacts(recipient, items, dry)),
    known,
    ...(held === undefined && found === undefined ? {} : { overtaken: { ...held, ...found } }),
    ...defined({ tools }),
  };
}

/** Gathers only the facts that decide whether an item is due now. Unlike `factsFor`, does not search the log for newer states. */
export async function dueFacts(recipient: Recipient, items: readonly Item[], dry: boolean): Promise<Facts> {
  return {
    ...NO_FACTS,
    points: recipient.options.points ?? [],
    turnsSince: await turnsAfter(recipient, items),
    mutes: await mutesOf(recipient.context, recipient.log),
    ...(await clockFacts(recipient, items, dry)),
  };
}

/** Returns the number of turns that began since each item with `afterTurns` was queued. */
async function turnsAfter({ context, log, id }: Recipient, items: readonly Item[]): Promise<Readonly<Record<string, number>>> {
  const waiting = items.filter(({ notification: { deliver } }) => typeof deliver === 'object' && 'afterTurns' in deliver);
  if (waiting.length === 0) return {};
  const turns: Record<string, number> = Object.fromEntries(waiting.map((item) => [item.id, 0]));
  const after = waiting.reduce((least, { seq }) => Math.min(least, seq), Number.MAX_SAFE_INTEGER);
  for await (const { seq } of transcriptOf(context.store, log, id, { types: ['turn_start'], after }))
    for (const item of waiting) if (item.seq < seq) turns[item.id] = (turns[item.id] ?? 0) + 1;
  return turns;
}

/** Returns the facts about clocks. Reads other clocks only if an item may be due or expired. */
async function clockFacts(
  recipient: Recipient,
  items: readonly Item[],
  dry: boolean,
): Promise<Pick<Facts, 'clockAlone' | 'sighted'>> {
  const { context, log } = recipient;
  const now = context.store.now();
  const { maxDeferMs } = policyOf(recipient);
  const timed = items.filter((item) => {
    const { deliver = 'next', expiresAt } = item.notification;
    if (typeof expiresAt === 'number' && queuedAt(item, now) === undefined) return true;
    if (deliver === 'next') return false;
    return typeof deliver === 'object' && 'at' in deliver
      ? isDue(deliver.at, item, { now })
      : waitedMs(item, { now }) >= maxDeferMs;
  });
  const sighted = timed.length === 0 ? {} : await sightings(context, log, timed, dry);
  const alone = items.some((item) => isExpired(item, now, sighted[item.id])) && !(await context.witnesses.agree());
  return { ...(alone ? { clockAlone: true as const } : {}), ...(Object.keys(sighted).length > 0 ? { sighted } : {}) };
}
