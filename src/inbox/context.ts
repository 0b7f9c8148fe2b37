/**
 * The parts of this room share this object. Each part is a function or a small class that gets this object. No part knows
 * `Inbox`, which is made of them.
 */
import type { Address, ConversationId, LogKey } from '../core/address.ts';
import type { NotificationId, NotificationInput, Subscribed } from '../core/notification.ts';
import type { Policy } from '../core/policy.ts';
import type { Ids, LineRenderer, Presence, Store, Swap } from '../core/ports.ts';
import type { Draft, Owner, QueuedRecord, Stored, SucceededRecord } from '../core/records.ts';
import type { InsideAgent } from './producing/inside.ts';
import type { TranscriptQuery } from './conversation/fork.ts';
import type { LeaseEnds } from './conversation/lease-ends.ts';
import type { OpenLimit } from './producing/open-limit.ts';
import type { Witnesses } from './housekeeping/witnesses.ts';

export interface PolicySource {
  /** The project's current policy. Must not throw: a broken file keeps the old one. */
  policy(project: string): Policy;
  /** The file with its line, or the variable, that decides a setting of the project, for people. Undefined: no layer sets it. */
  decidedBy?(project: string, key: string): string | undefined;
}

export interface Context {
  readonly store: Store;
  readonly policies: PolicySource;
  readonly ids: Ids;
  /** This process, as the owner of its leases. */
  readonly owner: Owner;
  /** Undefined: this process cannot find out. */
  readonly isAlive: (owner: Owner) => boolean | undefined;
  readonly timeZone: string;
  /** Renders lines by the templates of their subscribers. */
  readonly lines: LineRenderer | undefined;
  /** The agent that runs this process as a command. */
  readonly speaker: InsideAgent | undefined;
  readonly companions: readonly Companion[];
  /** Which clocks agree with the clock of this process. */
  readonly witnesses: Witnesses;
  readonly leases: LeaseEnds;
  readonly limit: OpenLimit;
  /** A writer (the bus) holds notifications back before it queues them. */
  readonly unwritten: boolean;
  /** Resolves when all of them are queued. */
  written(): Promise<void>;
}

/** The inbox behind a conversation, for the code that carries to it: it queues, withdraws, and lists conversations. */
export interface Logs extends Context {
  queue(to: string | Address, input: NotificationInput, subscribed?: Subscribed): Promise<Queued>;
  prepare(log: LogKey, input: NotificationInput, only?: ConversationId): Promise<QueuedRecord>;
  withdraw(
    to: string | Address | LogKey,
    what: { id: string } | { key: string },
    why: { by: string; reason: string },
  ): Promise<readonly Withdrawn[]>;
  markRead(to: string | Address | LogKey, ids: readonly string[], by: string): Promise<void>;
  transcript(
    place: { readonly log: LogKey; readonly id: ConversationId },
    query?: TranscriptQuery,
  ): AsyncGenerator<Stored, void, undefined>;
  active(query: { project?: string; log?: LogKey }): Promise<readonly Presence[]>;
  isActive(presence: Presence, now?: number): boolean;
  overBecause(presence: Presence): OverBecause | undefined;
  bind(host: Owner, to: { log: LogKey; conversation: ConversationId }): Promise<void>;
  mark(log: LogKey): Promise<string>;
}

export type Queued =
  | { readonly kind: 'queued'; readonly id: NotificationId; readonly to: readonly string[] }
  /** Counted into an open notification of the same key. */
  | { readonly kind: 'folded'; readonly id: NotificationId; readonly into: NotificationId; readonly to: readonly string[] }
  /** The id was queued before: nothing changed. */
  | { readonly kind: 'duplicate'; readonly id: NotificationId; readonly to: readonly string[] };

/**
 * `maybe_seen`: it was offered before, so the model may have read it; it is not offered again. `gate_lowered`: it was
 * delivered, and it no longer holds the gate up.
 */
export type Withdrawn = {
  readonly id: NotificationId;
  readonly result: 'withdrawn' | 'maybe_seen' | 'gate_lowered' | 'too_late' | 'unknown';
};

/** Why a conversation is over. */
export type OverBecause = Exclude<SucceededRecord['why'], 'merged'>;

export type Succession = {
  readonly log: LogKey;
  readonly from: ConversationId;
  readonly to: ConversationId;
};

/**
 * Other data of a conversation that its heir takes over together with the unread notifications. The drafts and swaps are part of
 * the same append. `undefined` if `from` has no such data.
 */
export type Companion = (
  store: Store,
  succession: Succession,
) => Promise<{ readonly drafts: readonly Draft[]; readonly swaps: readonly Swap[] } | undefined>;
