/**
 * The port that `earpiece migrate` needs in addition to `Store`: one end of a move. An end reads or writes the whole content of a
 * store, with the positions and times of its records. An adapter of another engine may lack this port.
 *
 * A move writes a mark into both stores, and `openStore` refuses a store with a mark. The source refuses all writers as soon as
 * it has a mark, including writers that opened it before. So no data can change between two runs of an interrupted move.
 */
import type { ConversationId, LogKey } from '../../core/address.ts';
import type { Json } from '../../core/json.ts';
import type { Presence, Progress, Withheld } from '../../core/ports.ts';
import type { Owner, Stored } from '../../core/records.ts';

export type Mark = {
  readonly role: 'source' | 'target';
  /** The random name of the move, the same in both stores. */
  readonly move: string;
  /** The URLs or paths of both stores, without secrets. */
  readonly from: string;
  readonly to: string;
  /** Epoch ms. `doneAt`: the time at which the target contained everything. Only the mark of a source has this field. */
  readonly startedAt: number;
  readonly doneAt?: number;
};

/**
 * The position up to which the records were copied, and the number of copied records. A source that yields one log after another,
 * ordered by name, also gives the log.
 */
export type Cursor = { readonly seq: number; readonly log?: LogKey; readonly copied: number };

export type RecordPage = { readonly records: readonly Stored[]; readonly cursor: Cursor };

/** The content of a store that is not in its logs. */
export type Row =
  | { readonly kind: 'presence'; readonly presence: Presence }
  | {
      readonly kind: 'binding';
      readonly host: Owner;
      readonly log: LogKey;
      readonly conversation: ConversationId;
      readonly at: number;
    }
  | { readonly kind: 'withheld'; readonly held: Withheld }
  | { readonly kind: 'setting'; readonly key: string; readonly value: Json }
  | { readonly kind: 'secret'; readonly value: string };

/** The content of one end. `holds`: a description for people, such as `12 records`. Absent for an empty store. */
export type Found =
  | { readonly kind: 'none' }
  | { readonly kind: 'store'; readonly holds?: string }
  | { readonly kind: 'marked'; readonly mark: Mark };

export interface End {
  /** As in `Store`. */
  readonly name: string;
  /** The URL or path for a command line, without secrets. */
  readonly address: string;
  readonly engine: 'sqlite' | 'postgres' | 'nats';

  /** Reports whether this end has a store, content and a mark. Creates no store, but may update an older release's tables. */
  find(): Promise<Found>;

  /**
   * Writes the mark. When the call resolves, earlier writes are complete, and the store refuses all writers until `thaw`. A
   * second call replaces the mark.
   */
  freeze(mark: Mark): Promise<void>;
  /** Removes the mark of a source, which then accepts writes as before. */
  thaw(): Promise<void>;

  /** Makes an empty store with this mark. `first`: the position of its first record. */
  begin(mark: Mark, first: number): Promise<void>;
  /** Returns the position up to which an interrupted move has copied records. Undefined if it has copied no record. */
  cursor(): Promise<Cursor | undefined>;
  /**
   * Stores a page of records and its cursor durably. If the call fails, an engine with transactions has stored nothing, and any
   * other engine may have stored only the first records of the page.
   */
  take(page: RecordPage): Promise<void>;
  /** Stores rows. A row that already exists is replaced. */
  takeRows(rows: readonly Row[]): Promise<void>;
  /** Called after the last page: makes sure that every later record gets a position above `head`. */
  takeHead(head: number): Promise<void>;
  /** Removes the mark of a target, which is an ordinary store from then on. */
  release(): Promise<void>;
  /** Removes a target with its mark. `begin` can then make the store again. */
  discard(): Promise<void>;
  /**
   * Describes the other processes that have the store open, such as `earpiece serve (process 812)`. An engine that cannot find
   * these processes lacks this method.
   */
  users?(): Promise<readonly string[]>;

  /** Returns the approximate number of records after the cursor. */
  count(after?: Cursor): Promise<number>;
  /**
   * Returns the position of the first record, and the newest position that the store has given. Both are 0 for an empty store.
   */
  bounds(): Promise<{ readonly first: number; readonly head: number }>;
  /**
   * Yields pages of records after the cursor, each log in the order of its positions. If the engine supports streaming, only one
   * page is in memory at a time.
   */
  records(after: Cursor | undefined): AsyncIterable<RecordPage>;
  rows(): AsyncIterable<readonly Row[]>;
  /** As in `Store`. */
  verify(options?: Progress): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** The number of records at which a page is full. */
export const PAGE = 2_000;
/** The first page is small, because the records may be large. The pages then grow. */
export const FIRST_PAGE = 100;
export const GROWTH = 4;
const PAGE_BYTES = 8_000_000;

/**
 * Returns the number of records for the next page: at most `PAGE`, at most `GROWTH` times the number of `bodies`, and not more
 * than fit into about `PAGE_BYTES`.
 */
export function nextLimit(bodies: readonly { readonly body: string }[]): number {
  const bytes = bodies.reduce((sum, { body }) => sum + body.length, 0);
  const fitting = Math.floor((PAGE_BYTES * bodies.length) / Math.max(1, bytes));
  return Math.max(1, Math.min(PAGE, GROWTH * bodies.length, fitting));
}
/** The time that a call waits for an unavailable server, in ms. */
export const PATIENCE_MS = 30_000;
/**
 * The type of a record that an SQLite target adds at the source's newest position, if no moved record has that position.
 * Without this record, the target would give the position to another record, because the head of an SQLite store is its newest
 * record.
 */
export const SKIPPED = 'positions_skipped';
