import type { LogKey } from '../core/address.ts';
import { type Item, itemKey, replay } from '../core/items.ts';
import type { Stored } from '../core/records.ts';

/** Finds the differences between the index and a replay of the log. */
export function unsound(log: LogKey, records: Iterable<Stored>, indexed: Iterable<Item>): string[] {
  // `node:util` is not imported, because an import costs each start 4 ms and 2 MB.
  const { isDeepStrictEqual } = process.getBuiltinModule('node:util');
  const replayed = replay(records);
  const problems: string[] = [];
  for (const item of indexed) {
    const key = itemKey(item);
    const expected = replayed.get(key);
    replayed.delete(key);
    const name = `${log}: ${item.id}${item.audience === '' ? '' : ` for ${item.audience}`}`;
    if (expected === undefined) problems.push(`${name} is in the index, but no record queued this notification`);
    else if (JSON.stringify(expected) !== JSON.stringify(item) && !isDeepStrictEqual(plain(expected), plain(item)))
      problems.push(`${name} is ${item.state} in the index, but ${expected.state} by its records (${differing(expected, item)})`);
  }
  for (const item of replayed.values()) problems.push(`${log}: ${item.id} was queued at ${item.seq}, but is not in the index`);
  return problems;
}

const plain = (item: Item): unknown => JSON.parse(JSON.stringify(item));

function differing(a: Item, b: Item): string {
  const fields = new Set([...Object.keys(a), ...Object.keys(b)]) as Set<keyof Item>;
  const differ = [...fields].filter((field) => JSON.stringify(a[field]) !== JSON.stringify(b[field]));
  return `differs in ${differ.join(', ')}`;
}
