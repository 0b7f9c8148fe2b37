/** Reads and writes the settings: values by name. A writer must hold the lock `setting <key>`. */
import type { Json } from '../../core/json.ts';
import type { Swap } from '../../core/ports.ts';
import type { Known } from '../settle-batch.ts';
import type { Query } from './database.ts';
import { fromColumn, toColumn } from './text.ts';

export async function settingsOf(query: Query, keys: readonly string[]): Promise<Known> {
  if (keys.length === 0) return new Map();
  const rows = await query<{ key: string; value: string }>(
    'SELECT key, value FROM @settings WHERE key = ANY($1)',
    keys.map(toColumn),
  );
  return new Map(rows.map(({ key, value }) => [fromColumn(key), value]));
}

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
