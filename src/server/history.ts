/** Reads records page by page. The work for one page is limited, so a page may be short although more records follow. */
import type { LogKey } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import type { RecordsPage } from '../wire/api.ts';
import type { Stored } from '../core/records.ts';
import type { Inbox } from '../inbox/index.ts';
import { Named } from './named.ts';
import { Chunks, PageBytes } from './page-bytes.ts';
import type { Principal } from './tokens.ts';

export type HistoryQuery = {
  /** The log to read. Without a log, the query reads the positions of the whole store. */
  readonly log?: LogKey | undefined;
  readonly project?: string | undefined;
  /** The position after which the records begin. */
  readonly after?: number | undefined;
  /** The position before which the records end. */
  readonly before?: number | undefined;
  /** Whether to return the last page instead of the first. Default: only if `before` is given. */
  readonly newest?: boolean | undefined;
  readonly limit: number;
  /** The reader. The page contains only records that the reader may see. */
  readonly who: Principal;
  readonly wants: (record: Stored) => boolean;
};

/**
 * When a page of one log has read this many records, the page ends, even if few of them match. The last chunk may exceed the
 * number.
 */
const MAX_RECORDS = 5_000;
/** The maximum number of positions of the store that are read for one page across logs. */
const MAX_POSITIONS = 20_000;
const CHUNK = 500;

export async function history(inbox: Inbox, query: HistoryQuery): Promise<RecordsPage> {
  const { log, project, limit, who, wants } = query;
  const newest = query.newest ?? query.before !== undefined;
  const head = await inbox.store.head();
  const bottom = query.after ?? 0;
  const top = Math.min(query.before === undefined ? head : query.before - 1, head);
  const positions = log === undefined ? MAX_POSITIONS : Number.POSITIVE_INFINITY;
  let after = newest ? Math.max(bottom, top - positions) : bottom;
  let upTo = newest ? top : Math.min(top, bottom + positions);
  const found: Stored[] = [];
  const room = new PageBytes();
  const chunks = new Chunks(CHUNK);
  const page = (): RecordsPage => {
    const next = newest ? (upTo > bottom ? upTo + 1 : null) : after < top ? after : null;
    return { items: newest ? found.toReversed() : found, next: next === null ? null : String(next), head };
  };
  for (let looked = 0; log === undefined || looked < MAX_RECORDS;) {
    const chunk = chunks.next();
    looked += chunk;
    const records = await inbox.store.read({
      ...defined({ log }),
      ...(log !== undefined || project === undefined ? {} : { project }),
      after,
      upTo,
      limit: chunk,
      newestFirst: newest,
    });
    const sees = await new Named(inbox.store, records).seenBy(who);
    for (const record of records) {
      const shown = wants(record) ? sees(record) : undefined;
      if (shown !== undefined) {
        if (!room.take([shown])) return page();
        found.push(shown);
      }
      if (newest) upTo = record.seq - 1;
      else after = record.seq;
      if (found.length === limit) return page();
    }
    if (records.length === chunk) continue;
    // The page has no more records between its bounds.
    if (newest) upTo = after;
    else after = upTo;
    break;
  }
  return page();
}
