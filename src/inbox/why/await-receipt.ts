/** Waits until a notification has the requested receipt, or can no longer get it. */
import type { LogKey } from '../../core/address.ts';
import { asListed } from '../../core/clocks.ts';
import type { Item } from '../../core/items.ts';
import type { NotificationId } from '../../core/notification.ts';
import type { Store } from '../../core/ports.ts';
import { RECEIPTS, type Receipt, type ReceiptName } from '../../core/receipts.ts';
import { countedInto } from '../producing/withdraw.ts';
import { receiptOf } from './receipts.ts';

export type ReceiptState = {
  /** The lowest receipt among several audiences: an outcome, or else `queued` … `read`. */
  readonly receipt: Receipt;
  /** Whether the notification has the requested receipt. */
  readonly reached: boolean;
  /**
   * Whether the wait is finished: the notification has the receipt, or can no longer get it. After `summarized`, only a wait for
   * `read` continues, because the model can still read the notification.
   */
  readonly settled: boolean;
};

const rank = (receipt: Receipt): number => (RECEIPTS as readonly string[]).indexOf(receipt);

/** Whether the item can no longer get the receipt `until`. */
const hasEnded = (item: Item, until: ReceiptName): boolean =>
  item.state === 'closed' && rank(receiptOf(item)) < 0 && (item.outcome !== 'summarized' || until !== 'read');

export function receiptState(items: readonly Item[], until: ReceiptName): ReceiptState {
  const receipts = items.map((item) => receiptOf(item));
  const reached = receipts.length > 0 && receipts.every((each) => rank(each) >= rank(until));
  const ended = items.some((item) => hasEnded(item, until));
  return { receipt: receipts.toSorted((a, b) => rank(a) - rank(b))[0] ?? 'queued', reached, settled: reached || ended };
}

export type Awaited = {
  readonly id: string;
  readonly logs: readonly LogKey[];
  /** Returns whether a copy counts, for a caller that may not see every copy. Default: all copies count. */
  readonly counts?: (item: Item) => boolean;
};

export type Waiting = {
  readonly until: ReceiptName;
  readonly withinMs: number;
  readonly signal?: AbortSignal;
  /** Runs before each further read. If this function throws, the wait ends with its error. */
  readonly beforeNextRead?: () => Promise<void>;
};

/**
 * Waits for a receipt of the notification in all its logs, for at most `withinMs`. Resolves with undefined if no log has the
 * notification. Rejects with the signal's reason if the signal aborts. A folded notification has the receipt of the notification
 * into which it was folded. An expired notification counts as ended even before a sweep closes it.
 */
export async function awaitReceipt(
  store: Store,
  { id, logs, counts = () => true }: Awaited,
  { until, withinMs, signal, beforeNextRead }: Waiting,
): Promise<ReceiptState | undefined> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    signal?.throwIfAborted();
    const seen = await store.head();
    const items = (await Promise.all(logs.map((log) => copiesOf(store, log, id as NotificationId)))).flat().filter(counts);
    if (items.length === 0) return undefined;
    const state = receiptState(items, until);
    const left = deadline - performance.now();
    if (state.settled || left <= 0) return state;
    // `changed` may miss an append of another process, so the log is read at least once a second.
    await store.changed(seen, { withinMs: Math.min(left, 1_000), ...(signal ? { signal } : {}) });
    await beforeNextRead?.();
  }
}

async function copiesOf(store: Store, log: LogKey, id: NotificationId): Promise<readonly Item[]> {
  const items = await store.items(log, { kind: 'ids', ids: [id] });
  const into = countedInto(items);
  const copies = into === undefined ? items : await store.items(log, { kind: 'ids', ids: [into] });
  return copies.map((item) => asListed(item, store.now()));
}
