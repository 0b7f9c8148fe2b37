/** The interrupts that hold up a gate of an agent. */
import { splitLog, type LogKey } from '../../core/address.ts';
import { holdsGate } from '../../core/clocks.ts';
import { filterOf } from '../../core/filter.ts';
import type { Item } from '../../core/items.ts';
import { NO_FACTS } from '../../core/make-plan.ts';
import type { Context } from '../context.ts';
import { mutesOf } from '../producing/mutes.ts';
import { audienceOf, supersededOf } from './overtaken.ts';

/**
 * Returns the interrupts that hold up a gate in any conversation of the agent, oldest first. Filtered, expired and superseded
 * interrupts hold no gate up.
 */
export async function gatesOf(context: Context, log: LogKey): Promise<readonly Item[]> {
  const items = await context.store.items(log, { kind: 'gate' });
  if (items.length === 0) return items;
  const policy = context.policies.policy(splitLog(log).project);
  const now = context.store.now();
  const mutes = await mutesOf(context, log);
  const superseded = await supersededOf(context, log, items, {
    reader: audienceOf,
    facts: async () => ({ ...NO_FACTS, mutes }),
    policy,
    now,
  });
  return items.filter(
    (item) => holdsGate(item, now) && !superseded.has(item) && filterOf(item.notification, policy, mutes, now) === undefined,
  );
}
