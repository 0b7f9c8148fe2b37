/**
 * Records when an item was first seen, by this process's clock. If the item's stamps do not show its age, the age counts from
 * that time. For example, a reminder "in 2 h" is then delivered two hours after its first sighting, and neither at once nor in a
 * year. The store keeps the time for other processes.
 */
import { AGREE_MS, queuedAt, type Sighted } from '../../core/clocks.ts';
import type { LogKey } from '../../core/address.ts';
import type { Item } from '../../core/items.ts';
import type { Context } from '../context.ts';

const settingOf = (log: LogKey): string => `sighted ${log}`;
/** The maximum number of stored items for each log. The newest items are kept. */
const MOST_ITEMS = 1_000;
/** The number of records after an item that are searched for a plausible time. */
const RECORDS_SEARCHED = 50;

/**
 * Returns the latest possible queue time of each item whose stamps do not show its age. If this process's clock is known to be
 * wrong, returns this time for all items. With `dry`, first sightings are not stored.
 */
export async function sightings(context: Context, log: LogKey, items: readonly Item[], dry: boolean): Promise<Sighted> {
  const { store, witnesses } = context;
  const now = store.now();
  const trusted = await witnesses.trusted();
  const unknown = trusted ? items.filter((item) => queuedAt(item, now) === undefined) : items;
  const sighted: Record<string, number> = {};
  // A later record with a plausible time gives an earlier bound than the current time.
  for (const { id, seq } of trusted ? unknown : []) {
    const after = await store.read({ after: seq, limit: RECORDS_SEARCHED });
    const at = after.map((record) => queuedAt(record, now)).find((time) => time !== undefined);
    if (at !== undefined) sighted[id] = at;
  }
  const rest = unknown.filter(({ id }) => sighted[id] === undefined);
  if (rest.length === 0) return sighted;
  const stored = await store.setting(settingOf(log));
  const known = (stored ?? {}) as Sighted;
  for (const { id } of rest) sighted[id] = isPlausible(known[id], now) ? (known[id] as number) : now;
  const all: Record<string, number> = { ...known };
  for (const { id } of rest) all[id] = sighted[id] as number;
  // If another process has changed the setting since the read, a later call stores the time.
  if (!dry && rest.some(({ id }) => known[id] !== sighted[id]))
    await store.swapSetting(settingOf(log), stored, Object.fromEntries(Object.entries(all).slice(-MOST_ITEMS)));
  return sighted;
}

const isPlausible = (at: number | undefined, now: number): boolean => at !== undefined && at <= now + AGREE_MS;
