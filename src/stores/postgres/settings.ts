/** The settings: values by name. A writer must hold the lock `setting <key>`. */
import type { Json } from '../../core/json.ts';
import type { Swap } from '../../core/ports.ts';
import type { Query } from './database.ts';
import { fromColumn, toColumn } from './text.ts';

/** Settings as JSON text. Undefined if a setting is absent. */
export type Known = ReadonlyMap<string, string | undefined>;

export async function settingsOf(query: Query, keys: readonly string[]): Promise<Known> {
  if (keys.length === 0) return new Map();
  const rows = await query<{ key: string; value: string }>(
    'SELECT key, value FROM @settings WHERE key = ANY($1)',
    keys.map(toColumn),
  );
  return new Map(rows.map(({ key, value }) => [fromColumn(key), value]));
}

/** Returns the first key whose value differs from the expected value, compared as JSON text. */
export const staleKey = (known: Known, swaps: readonly Swap[]): string | undefined =>
  swaps.find(({ key, from }) => known.get(key) !== (from === undefined ? undefined : JSON.stringify(from)))?.key;

export async function applySwaps(query: Query, swaps: readonly Pick<Swap, 'key' | 'to'>[]): Promise<void> {
  for (const { key, to } of swaps) await setSetting(query, key, to);
}

export const setSetting = (query: Query, key: string, value: Json | undefined): Promise<unknown> =>
  value === undefined
    ? query('DELETE FROM @settings WHERE key = $1', toColumn(key))
    : query(
        'INSERT INTO @settings (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value',
        toColumn(key),
        JSON.stringify(value),
      );
