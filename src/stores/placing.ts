import type { LogKey } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import { EarpieceError } from '../core/errors.ts';
import { type Item, putItem, settle } from '../core/items.ts';
import type { Appended } from '../core/ports.ts';
import type { Draft, Stored } from '../core/records.ts';

/** A draft with the JSON to store. The JSON is made once, outside of transactions. */
export type Written = { readonly body: Draft; readonly text: string };

/** The position and time of appended drafts, and the items that they changed or made. */
export type Placed = {
  readonly kind: 'placed';
  /** The position of the first draft. The other drafts have the following positions. */
  readonly seq: number;
  readonly at: number;
  readonly clock?: number;
  readonly items: readonly Item[];
  /** True if no draft concerned an existing item or an item of an earlier draft. */
  readonly isFresh: boolean;
};

/** The result of an append, without the records. The caller makes the records from its drafts. */
export type Placing = Placed | Exclude<Appended, { kind: 'appended' }>;

type Place = { readonly seq: number; readonly at: number; readonly clock?: number | undefined };

export const written = (drafts: readonly Draft[]): Written[] =>
  drafts.map((body) => ({ body, text: storable(body, () => JSON.stringify(body)) }));

/**
 * Copies a draft with `copy`, and returns the copy. Throws `bad_argument` for a draft that JSON cannot represent, such as a draft
 * that contains itself.
 */
export function storable<T>(draft: Draft, copy: () => T): T {
  try {
    return copy();
  } catch (cause) {
    // A recursive copy of such a draft overflows the stack. For a cycle, JSON.stringify throws a message of several lines.
    const [said] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
    const why = cause instanceof RangeError ? 'the record contains itself or is nested too deeply' : said;
    throw new EarpieceError(
      'bad_argument',
      `append: a record of type ${JSON.stringify(draft.type)} cannot be stored (${why}); pass only values that JSON can hold`,
      { cause },
    );
  }
}

/** Makes the records of the placed drafts. */
export function storedAs({ seq, at, clock }: Place, log: LogKey, drafts: readonly Draft[]): Stored[] {
  return drafts.map((body, n) => ({ seq: seq + n, log, at, ...defined({ clock }), body }));
}

/** Makes the items of drafts that concern no existing item. */
export function freshItems({ seq, at, clock }: Place, drafts: readonly Draft[]): Item[] {
  const made = new Map<string, Item>();
  for (const [n, body] of drafts.entries()) {
    const settled = settle(body, { seq: seq + n, at, ...defined({ clock }) }, []);
    if (settled.kind === 'settled') for (const item of settled.items) putItem(made, item);
  }
  return [...made.values()];
}
