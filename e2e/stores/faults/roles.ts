import type { FAULT_POINTS } from '../../../src/core/faults.ts';

export const ENGINES = ['sqlite', 'postgres', 'nats'] as const;
export type EngineName = (typeof ENGINES)[number];

/** The processes that use the store at the same time. Each slot runs one life after the other. */
export const SLOTS = ['producer-1', 'producer-2', 'carrier-1', 'carrier-2', 'server'] as const;
export type Slot = (typeof SLOTS)[number];
export type Role = 'producer' | 'carrier' | 'server';
export const roleOf = (slot: Slot): Role => slot.split('-')[0] as Role;

export type Point = (typeof FAULT_POINTS)[number];

/**
 * The roles that pass each point, and their operation. A worker that shall die at a point runs that operation more often;
 * `opener` is a process that creates the store.
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

/** The named points of an engine that a process of one of these roles passes. */
export function pointsOf(engine: EngineName, ...roles: readonly (Role | 'opener')[]): readonly Point[] {
  return (Object.keys(AT_POINT) as Point[]).filter(
    (point) => roles.includes(AT_POINT[point][0]) && !(engine === 'nats' && NOT_IN_NATS.includes(point)),
  );
}

/**
 * Deliberate faults in the workers, never in the product: the checker must find each. The points are those where a death shows
 * the fault.
 */
export const BUGS = {
  /** A producer says that a notification is stored before it is. */
  ack_before_commit: ['append.begun', 'queue.checked'],
  /** A carry closes the items that it saw open, without a condition. */
  close_without_condition: [],
  /** The lease of a dead process is kept. */
  forget_release: ['offer.appended', 'carrier.before_bytes'],
  /** A frame does not say that it repeats a notification. */
  unmarked_repeat: ['carrier.after_bytes', 'offer.appended'],
  /** A reader goes on behind the newest position instead of behind the last record that it has read. */
  read_past: [],
} as const satisfies Record<string, readonly Point[]>;
export type Bug = keyof typeof BUGS;

/** A worker's output, one JSON object per line. Written in one call before the next step, so a kill tears no line. */
export type Told = Said & {
  /** The monotonic time of the machine, ms: the order of the lines of all workers. */
  readonly t: number;
};
export type Said =
  | { readonly kind: 'ready' }
  /** The worker is about to queue. The next life repeats the call if no `queued` follows. */
  | { readonly kind: 'queueing'; readonly id: string; readonly to: string }
  /** The call of `queue` has returned, so this notification must never be lost. */
  | { readonly kind: 'queued'; readonly id: string; readonly to: readonly string[] }
  /** The call of `withdraw` is about to begin, and has returned. */
  | { readonly kind: 'withdrawing'; readonly id: string }
  | { readonly kind: 'withdrawn'; readonly id: string; readonly result: string }
  /** A carry into Earpiece's own transcript has returned. */
  | { readonly kind: 'carried'; readonly ids: readonly string[] }
  /** The bytes of a leased carrier are written. `marked`: the items that the frame calls repeated. */
  | {
      readonly kind: 'bytes';
      /** The conversation that reads them. */
      readonly to: string;
      readonly carrier: string;
      readonly ids: readonly string[];
      readonly marked: readonly string[];
      /** The answer of a tool or a refusal, which has no frame. */
      readonly pulled?: true;
    }
  /** A reader that follows the store got this record. */
  | { readonly kind: 'read'; readonly seq: number }
  /** The store answered that it is out of reach or full. */
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'drained' }
  /** A broken invariant that the worker itself found. */
  | { readonly kind: 'problem'; readonly text: string };

/** A line to a worker's input: its clock is off by so many ms from now on. */
export type Ordered = { readonly clock: number };

/** The argument of a worker, as JSON. */
export type Orders = {
  readonly url: string;
  readonly role: Role | 'drain' | 'opener';
  readonly name: string;
  /** Decides about the worker's operations. */
  readonly seed: string;
  readonly thread: boolean;
  readonly bug?: Bug;
  /** The queueing without an answer of the life before. */
  readonly unanswered?: { readonly id: string; readonly to: string };
  /** The last record that the reader before has read. */
  readonly after?: number;
};

export const LOGS = { coder: 'shop/coder', tester: 'shop/tester' } as const;
/** The log of an interrupt to all agents of the project. */
export const STANDING = 'shop/*';
/** The log of the set-up, with old records for `prune`. */
export const PAST = 'past/agent';
export const OWN = 'own';
export const HOST = 'host';
