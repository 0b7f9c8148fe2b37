/** Made of `../schemas/events.ts` by `node scripts/wire.ts --update`. */
import type { Counts } from './base.ts';

export type EmittedReply = {
  readonly events: readonly {
    readonly id: string;
    readonly source: string;
    readonly type: string;
    /** The severity to which the event was lowered, because the token allows no higher severity. */
    readonly loweredTo: 'debug' | 'info' | 'warning' | 'error' | 'critical' | null;
    readonly heard: readonly {
      readonly subscriber: string;
      readonly kind: string;
      readonly ids: readonly string[];
      /** For a skipped event: the reason. */
      readonly because: string | null;
    }[];
  }[];
};

/**
 * The times from queue to delivery: 50 % took at most `p50Ms`, and 95 % at most `p95Ms`. Null if no notification was delivered.
 */
export type Delivery = {
  readonly count: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
};

export type ActivityReply = {
  readonly project: string | null;
  readonly from: number;
  readonly to: number;
  readonly bucketMs: number;
  /**
   * `at` is the start of the bucket; `queued` and `delivered` are counts in the bucket, `waiting` is the count at its end. No
   * series counts a notification that was folded into another notification.
   */
  readonly buckets: readonly {
    readonly at: number;
    readonly queued: Counts;
    readonly delivered: Counts;
    readonly waiting: Counts;
    /** Estimated tokens of the texts for models. */
    readonly tokens: number;
    /** The times from queue to delivery, for the notifications that were delivered in this bucket. */
    readonly delivery: Delivery;
  }[];
  readonly delivery: Delivery;
  readonly kinds: readonly {
    readonly kind: string;
    readonly queued: number;
    readonly delivered: number;
    readonly tokens: number;
  }[];
  readonly tokens: number;
  /** Whether the answer counts only the newest notifications, because the period has too many. */
  readonly truncated: boolean;
};
