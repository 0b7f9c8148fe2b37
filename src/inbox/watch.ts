import type { ReadQuery, Store } from '../core/ports.ts';
import type { Stored } from '../core/records.ts';

export type WatchQuery = Omit<ReadQuery, 'limit' | 'newestFirst' | 'seqs'> & { readonly signal?: AbortSignal };

const PAGE = 500;
/** The longest wait for a change before the next read of the log, in ms, because `changed` is only a hint. */
const POLL_EVERY_MS = 5_000;

/**
 * Yields the records after the position `after` as they are appended (default: only new records). Ends when `isOver` returns
 * true, or when `signal` aborts.
 */
export async function* watch(
  store: Store,
  { signal, ...query }: WatchQuery,
  isOver: () => boolean,
): AsyncGenerator<Stored, void, undefined> {
  let after = query.after ?? (await store.head());
  while (!signal?.aborted && !isOver()) {
    const seen = await store.head();
    for (;;) {
      const page = await store.read({ ...query, after, limit: PAGE });
      for (const record of page) {
        yield record;
        after = record.seq;
      }
      if (page.length < PAGE) break;
    }
    after = Math.max(after, seen);
    await store.changed(seen, { withinMs: POLL_EVERY_MS, ...(signal ? { signal } : {}) });
  }
}
