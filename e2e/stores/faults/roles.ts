import type { FAULT_POINTS } from '../../../src/core/faults.ts';

export const ENGINES = ['sqlite', 'postgres', 'nats'] as const;
export type EngineName = (typeof ENGINES)[number];

/** The processes that use the store at the same time. When the process of a slot dies, the slot starts the next process. */
export const SLOTS = ['producer-1', 'producer-2', 'carrier-1', 'carrier-2', 'server'] as const;
export type Slot = (typeof SLOTS)[number];
export type Role = 'producer' | 'carrier' | 'server';
export const roleOf = (slot: Slot): Role => slot.split('-')[0] as Role;

export type Point = (typeof FAULT_POINTS)[number];

/**
 * For each point, the role that passes it and the operation that leads to it. A worker that is to die at a point runs that
 * operation more often. An `opener` is a process that creates the store.
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

/** JetStream writes a record and its items in one message, and its streams need no migration. */
const NOT_IN_NATS: readonly Point[] = ['append.items_written', 'migrate.begun', 'migrate.step', 'migrate.committed'];

/** PostgreSQL writes records and items in one statement. */
const NOT_IN_POSTGRES: readonly Point[] = ['append.record_written', 'append.items_written'];
const NOT_IN: Partial<Record<EngineName, readonly Point[]>> = { nats: NOT_IN_NATS, postgres: NOT_IN_POSTGRES };

/** Returns the named points of an engine that a process of one of these roles passes. */
export function pointsOf(engine: EngineName, ...roles: readonly (Role | 'opener')[]): readonly Point[] {
  return (Object.keys(AT_POINT) as Point[]).filter(
    (point) => roles.includes(AT_POINT[point][0]) && NOT_IN[engine]?.includes(point) !== true,
  );
}

/**
 * Deliberate faults in the workers, never in the product. The checker must find each fault. Each fault names the points at
 * which the death of a worker shows the fault.
 */
export const BUGS = {
  /** A producer reports a notification as stored before the store has it. */
  ack_before_commit: ['append.begun', 'queue.checked'],
  /** A carry closes items without checking that they are still open. */
  close_without_condition: [],
  /** No process releases the lease of a dead process. */
  forget_release: ['offer.appended', 'carrier.before_bytes'],
  /** A frame does not say that it repeats a notification. */
  unmarked_repeat: ['carrier.after_bytes', 'offer.appended'],
  /** A reader continues after the newest position instead of after the last record that it has read. */
  read_past: [],
} as const satisfies Record<string, readonly Point[]>;
export type Bug = keyof typeof BUGS;

/**
 * A worker's output, one JSON object per line. The worker writes each line in one call before its next step, so a kill cuts no
 * line in half.
 */
export type Told = Said & {
  /** The monotonic time of the machine in ms, which orders the lines of all workers. */
  readonly t: number;
};
export type Said =
  | { readonly kind: 'ready' }
  /** The worker is about to queue. The next life repeats the call if no `queued` follows. */
  | { readonly kind: 'queueing'; readonly id: string; readonly to: string }
  /** The call of `queue` has returned, so this notification must never be lost. */
  | { readonly kind: 'queued'; readonly id: string; readonly to: readonly string[] }
  /** The worker is about to call `withdraw`. */
  | { readonly kind: 'withdrawing'; readonly id: string }
  /** The call of `withdraw` has returned. */
  | { readonly kind: 'withdrawn'; readonly id: string; readonly result: string }
  /** A carry into Earpiece's own transcript has returned. */
  | { readonly kind: 'carried'; readonly ids: readonly string[] }
  /** The bytes of a leased carrier are written. `marked`: the items that the frame calls repeated. */
  | {
      readonly kind: 'bytes';
      /** The conversation that reads the bytes. */
      readonly to: string;
      readonly carrier: string;
      readonly ids: readonly string[];
      readonly marked: readonly string[];
      /** The bytes are an answer of `get_notifications` or a refusal, which need not mark a repeated item. */
      readonly pulled?: true;
    }
  /** A reader that follows the store got this record. */
  | { readonly kind: 'read'; readonly seq: number }
  /**
   * The call was refused for a temporary reason, `code`: the store was out of reach or full, or other writers kept changing the
   * same items.
   */
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'drained' }
  /** A broken invariant that the worker itself found. */
  | { readonly kind: 'problem'; readonly text: string };

/** A line for a worker's input: from its next operation on, the worker's clock is wrong by this number of ms. */
export type Ordered = { readonly clock: number };

/** The argument of a worker, as JSON. */
export type Orders = {
  readonly url: string;
  readonly role: Role | 'drain' | 'opener';
  readonly name: string;
  /** The seed of the worker's random operations. */
  readonly seed: string;
  readonly thread: boolean;
  readonly bug?: Bug;
  /** The call of `queue` to which the previous process of the slot got no answer. */
  readonly unanswered?: { readonly id: string; readonly to: string };
  /** The last record that the previous reader has read. */
  readonly after?: number;
};

export const LOGS = { coder: 'shop/coder', tester: 'shop/tester' } as const;
/** The log with the interrupts for all agents of the project. */
export const STANDING = 'shop/*';
/** The log of the set-up, with old records for `prune`. */
export const PAST = 'past/agent';
export const OWN = 'own';
export const HOST = 'host';
