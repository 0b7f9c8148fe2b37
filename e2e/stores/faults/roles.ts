import type { FAULT_POINTS } from '../../../src/core/faults.ts';

export type Role = 'producer' | 'carrier';
export type Point = (typeof FAULT_POINTS)[number];

/**
 * For each fault point, the role that passes it, and the operation. A worker that is to die at a point runs that operation more
 * often; `opener` is a process that creates the file.
 */
export const AT_POINT = {
  'append.begun': ['producer', 'queue'],
  'append.record_written': ['carrier', 'carry'],
  'append.items_written': ['producer', 'queue'],
  'append.committed': ['carrier', 'offer'],
  'touch.committed': ['carrier', 'touch'],
  'withhold.committed': ['carrier', 'withhold'],
  'prune.begun': ['carrier', 'prune'],
  'prune.committed': ['carrier', 'prune'],
  'migrate.begun': ['opener', 'open'],
  'migrate.step': ['opener', 'open'],
  'migrate.committed': ['opener', 'open'],
  'queue.checked': ['producer', 'queue'],
  'queue.acknowledged': ['producer', 'queue'],
  'fan_out.intent': ['producer', 'fan_out'],
  'fan_out.queued': ['producer', 'fan_out'],
  'offer.planned': ['carrier', 'offer'],
  'offer.appended': ['carrier', 'offer'],
  'carrier.before_bytes': ['carrier', 'offer'],
  'carrier.after_bytes': ['carrier', 'offer'],
  'confirm.before': ['carrier', 'offer'],
  'confirm.after': ['carrier', 'offer'],
  'release.before': ['carrier', 'release'],
} as const satisfies Record<Point, readonly [Role | 'opener', string]>;

export type Deed = (typeof AT_POINT)[Point][1];

/** Deliberate faults in the workers, never in the product: the checker must find each. */
export const BUGS = ['ack_before_commit', 'close_without_condition', 'forget_release'] as const;
export type Bug = (typeof BUGS)[number];

/**
 * A worker's output, one JSON object per line. Each line is written in one call before the next step, so a kill never cuts a
 * line.
 */
export type Told =
  | { readonly kind: 'ready' }
  /** The worker is about to queue. If no `queued` follows, the next worker of this slot repeats the call. */
  | { readonly kind: 'queueing'; readonly id: string; readonly to: string }
  /** The call of `queue` has returned, so this notification must never be lost. */
  | { readonly kind: 'queued'; readonly id: string; readonly to: readonly string[] }
  /** A carry into Earpiece's own transcript has returned. */
  | { readonly kind: 'carried'; readonly ids: readonly string[] }
  /** The bytes of a leased carrier are written. */
  | { readonly kind: 'bytes'; readonly carrier: string; readonly ids: readonly string[] }
  | { readonly kind: 'drained' }
  /** A broken invariant that the worker itself found. */
  | { readonly kind: 'problem'; readonly text: string };

export const LOGS = { coder: 'shop/coder', tester: 'shop/tester' } as const;
/** The log of an interrupt to all agents of the project. */
export const STANDING = 'shop/*';
export const OWN = 'own';
export const HOST = 'host';
