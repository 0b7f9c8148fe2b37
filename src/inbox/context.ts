/**
 * The types that the parts of the inbox share. Most parts are functions or small classes that get a `Context`. No part imports
 * the class `Inbox`, which combines the parts.
 */
import type { Address, ConversationId, LogKey } from '../core/address.ts';
import type { FileScope } from '../core/cause.ts';
import type { NotificationId, NotificationInput, Subscribed } from '../core/notification.ts';
import type { Policy } from '../core/policy.ts';
import type { Ids, LineRenderer, Presence, Store, Swap } from '../core/ports.ts';
import type { Draft, Owner, QueuedRecord, Stored, SucceededRecord } from '../core/records.ts';
import type { InsideAgent } from './producing/inside.ts';
import type { TranscriptQuery } from './conversation/fork.ts';
import type { LeaseEnds } from './conversation/lease-ends.ts';
import type { Intents } from './producing/intents.ts';
import type { OpenLimit } from './producing/open-limit.ts';
import type { Witnesses } from './housekeeping/witnesses.ts';

export interface PolicySource {
  /** Returns the project's current policy. Must not throw: if the config file is broken, the last valid policy stays. */
  policy(project: string): Policy;
  /**
   * Names the place that sets a project's setting: a file with its line, a variable or a flag. Undefined if nothing sets the
   * setting.
   */
  decidedBy?(project: string, key: string): { readonly file: string; readonly scope?: FileScope } | undefined;
}

export interface Context {
  readonly store: Store;
  readonly policies: PolicySource;
  readonly ids: Ids;
  /** This process, as the owner of its leases. */
  readonly owner: Owner;
  /** Whether the owner's process lives. Undefined if this process cannot find out. */
  readonly isAlive: (owner: Owner) => boolean | undefined;
  readonly timeZone: string;
  /** Renders lines with the templates of their subscribers. */
  readonly lines: LineRenderer | undefined;
  /** The agent whose command started this process. Undefined if no agent's command started the process. */
  readonly speaker: InsideAgent | undefined;
  readonly companions: readonly Companion[];
  /** Checks which clocks agree with the clock of this process. */
  readonly witnesses: Witnesses;
  readonly leases: LeaseEnds;
  readonly limit: OpenLimit;
  readonly intents: Intents;
  /** Whether a writer in this process, such as the bus, holds notifications that it has not queued yet. */
  readonly unwritten: boolean;
  /** Resolves when those notifications are queued. */
  written(): Promise<void>;
}

/** The context with the methods of the inbox that a conversation needs. */
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
  /** The notification was folded into the open notification `into`, which has the same key. */
  | { readonly kind: 'folded'; readonly id: NotificationId; readonly into: NotificationId; readonly to: readonly string[] }
  /** The id was queued before, so nothing changed. */
  | { readonly kind: 'duplicate'; readonly id: NotificationId; readonly to: readonly string[] };

/**
 * `maybe_seen`: a carrier took the notification before, so the model may have read it. The notification is not offered again.
 * `gate_lowered`: the notification was delivered before, and no longer holds the gate up. `folded`: the notification is part of
 * the count of `into`, so nothing was withdrawn.
 */
export type Withdrawn = {
  readonly id: NotificationId;
  readonly result: 'withdrawn' | 'maybe_seen' | 'gate_lowered' | 'too_late' | 'folded' | 'unknown';
  /** With `folded`: the notification that counts this notification. */
  readonly into?: NotificationId;
};

/** Why a conversation has ended. */
export type OverBecause = Exclude<SucceededRecord['why'], 'merged'>;

export type Succession = {
  readonly log: LogKey;
  readonly from: ConversationId;
  readonly to: ConversationId;
};

/**
 * Moves other data of a conversation to its heir, together with the unread notifications. The returned drafts and swaps become
 * part of the same append. Returns undefined if `from` has no such data.
 */
export type Companion = (
  store: Store,
  succession: Succession,
) => Promise<{ readonly drafts: readonly Draft[]; readonly swaps: readonly Swap[] } | undefined>;
