/** The words for the progress of a notification. */
import { OUTCOMES } from './records.ts';

/** The receipts that a producer can wait for, lowest first. */
export const RECEIPTS = ['queued', 'offered', 'delivered', 'observed', 'read'] as const;
export type ReceiptName = (typeof RECEIPTS)[number];

/** `RECEIPTS`, and the ends of a notification that was not delivered. `maybe_seen`: the model may have seen the notification. */
export const ALL_RECEIPTS = [...RECEIPTS, ...OUTCOMES, 'folded', 'left_out', 'maybe_seen'] as const;
export type Receipt = (typeof ALL_RECEIPTS)[number];
