/**
 * The port of `earpiece migrate`, in addition to `Store`: one end of a move, which gives or takes the whole content of a store
 * with the positions and times of its records. An adapter of another engine may lack it.
 *
 * A move leaves a mark in both stores, and as long as a store has a mark, `openStore` refuses it. The source refuses all writers from
 * the first mark on, also writers that opened it before. So nothing can change between two runs of an interrupted move.
 */
import type { ConversationId, LogKey } from '../../core/address.ts';
import type { Json } from '../../core/json.ts';
import type { Presence, Progress, Withheld } from '../../core/ports.ts';
import type { Owner, Stored } from '../../core/records.ts';

export type Mark = {
  readonly role: 'source' | 'target';
  /** The random name of the move, the same in both stores. */
  readonly move: string;
  /** The addresses of both stores, without secrets. */
  readonly from: string;
  readonly to: string;
  /** Epoch ms. `doneAt`: the target has everything. Only a source has it. */
  readonly startedAt: number;
  readonly doneAt?: number;
};

/** The position up to which the records were copied. A source that gives one log after the other, by name, also says the log. */
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

/** The content at an address. `holds`: for people, such as `12 records`. Absent for an empty store. */
export type Found =
  | { readonly kind: 'none' }
  | { readonly kind: 'store'; readonly holds?: string }
  | { readonly kind: 'marked'; readonly mark: Mark };

export interface End {
  /** As in `Store`. */
  readonly name: string;
  /** The address for a command line, without secrets. */
  readonly address: string;
  readonly engine: 'sqlite' | 'postgres' | 'nats';

  /** Checks the content at the address. Creates nothing. */
  find(): Promise<Found>;

  /**
   * Refuses all writers from now on, in one step with the mark, until `thaw`. Earlier writes are complete then. A second call replaces
   * the mark.
   */
  freeze(mark: Mark): Promise<void>;
  /** Removes the mark of a source, which then accepts writes as before. */
  thaw(): Promise<void>;

  /** Makes an empty store with this mark. `first`: the first position that a record will have. */
  begin(mark: Mark, first: number): Promise<void>;
  /** The position up to which an interrupted move has copied records. Undefined: no record was copied. */
  cursor(): Promise<Cursor | undefined>;
  /** Keeps a page of records with the cursor, durably and all or nothing, or (without transactions) a beginning of it. */
  take(page: RecordPage): Promise<void>;
  /** Keeps rows. A row that exists already is replaced. */
  takeRows(rows: readonly Row[]): Promise<void>;
  /** After the last page: no later record gets a position up to `head`. */
  takeHead(head: number): Promise<void>;
  /** Removes the mark of a target, which is then an ordinary store. */
  release(): Promise<void>;
  /** Removes a target with its mark. */
  discard(): Promise<void>;

  /** Returns the approximate number of records after the cursor. */
  count(after?: Cursor): Promise<number>;
  /** The first position of a record, and the newest position that the store has given. 0 for an empty store. */
  bounds(): Promise<{ readonly first: number; readonly head: number }>;
  /**
   * Yields pages of records after the cursor, each log in the order of its positions. Memory stays bounded by a page, if the
   * engine can.
   */
  records(after: Cursor | undefined): AsyncIterable<RecordPage>;
  rows(): AsyncIterable<readonly Row[]>;
  /** As in `Store`. */
  verify(options?: Progress): Promise<readonly string[]>;
  close(): Promise<void>;
}

/** Records in one page, at most. */
export const PAGE = 2_000;
/** The first page is small, because the records may be large. The pages then grow. */
export const FIRST_PAGE = 100;
export const GROWTH = 4;
const PAGE_BYTES = 8_000_000;

/** Returns the number of records for the next page, so that this page holds about `PAGE_BYTES` at most. */
export function nextLimit(bodies: readonly { readonly body: string }[]): number {
  const bytes = bodies.reduce((sum, { body }) => sum + body.length, 0);
  const fitting = Math.floor((PAGE_BYTES * bodies.length) / Math.max(1, bytes));
  return Math.max(1, Math.min(PAGE, GROWTH * bodies.length, fitting));
}
/** The time that a call waits for an unavailable server, in ms. */
export const PATIENCE_MS = 30_000;
/**
 * The type of a record that holds the newest position that the source has given, if no moved record has it. Only a target without
 * a separate head adds such a record.
 */
export const SKIPPED = 'positions_skipped';
