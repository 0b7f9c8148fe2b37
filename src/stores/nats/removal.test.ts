import { expect, it } from 'vitest';
import type { LogKey } from '../../core/address.ts';
import type { Cut } from './logs.ts';
import { removeRecords, type Removing } from './removal.ts';

const LOG = 'shop/coder' as LogKey;

/** Makes a log whose row lists these removed records. The row must list a record until the message of the record is deleted. */
function listing(removed: readonly number[]) {
  let row: Cut = { removed, upTo: 0 };
  const deleted = new Set<number>();
  const lengths: number[] = [];
  const view = { log: { key: LOG }, void: new Set(), decided: 0 };
  const of = {
    logs: {
      exclusive: (_: LogKey, work: (refresh: () => Promise<unknown>) => Promise<void>) => work(async () => view),
      forget: () => {},
      cutOf: () => 'cut',
    },
    tables: {
      change: async (_row: string, _by: string, to: (value: Cut) => Cut) => {
        const before = row.removed;
        row = to(row);
        lengths.push(row.removed.length);
        const now = new Set(row.removed);
        const lost = before.filter((seq) => !now.has(seq) && !deleted.has(seq));
        if (lost.length > 0) throw new Error(`${lost.length} records are no longer listed, but not deleted`);
      },
    },
    server: {
      logs: 'X',
      remove: async (_: string, seq: number) => void deleted.add(seq),
    },
  } as unknown as Removing;
  return { of, deleted, lengths, listed: () => row.removed };
}

it('a removal of more records than fit into one row deletes all of them', async () => {
  const { of, deleted, lengths, listed } = listing([]);
  const seqs = Array.from({ length: 50_002 }, (_, i) => i + 1);
  await removeRecords(of, LOG, seqs);
  expect(deleted.size).toBe(seqs.length);
  expect(Math.max(...lengths)).toBe(50_000);
  expect(listed()).toEqual([]);
});

it("a removal completes another process's removal, whose records stay listed until then", async () => {
  const others = Array.from({ length: 50_000 }, (_, i) => i + 1);
  const { of, deleted, lengths, listed } = listing(others);
  await removeRecords(of, LOG, [60_000, 60_001]);
  expect(deleted.size).toBe(others.length + 2);
  expect(Math.max(...lengths)).toBe(50_000);
  expect(listed()).toEqual([]);
});
