/**
 * Tracks the notifications of one conversation: the server's list, changed by later records. Applying a record a second time
 * changes nothing, so lists and records may overlap.
 */
import { isByAgent } from '../../../src/wire/client/index.ts';
import type { Draft, KnownDraft, Stored } from '../../../src/core/records.ts';
import type { Deliver, Level, NotificationView } from '../types.ts';

export type Note = {
  readonly id: string;
  readonly log: string;
  /** The receiving conversation; null if the agent's first conversation with a carrier gets the notification. */
  readonly conversation: string | null;
  readonly kind: string;
  readonly level: Level;
  readonly message: string;
  /** The instruction that the agent reads after the message. */
  readonly instruction: string | null;
  readonly count: number;
  readonly action: string | null;
  readonly person: string | null;
  readonly sender: string | null;
  readonly subscriber: string | null;
  /** Whether a subscriber's template made the text, which is TOON in most cases. */
  readonly templated: boolean;
  readonly deliver: Deliver | null;
  readonly seq: number;
  readonly at: number;
  readonly expiresAt: number | null;
  readonly state: 'open' | 'offered' | 'closed';
  readonly receipt: string;
  /** The person who marked the notification as read, if no record proves that the agent has read it. */
  readonly markedBy: string | null;
  readonly gate: boolean;
};

export type Notes = ReadonlyMap<string, Note>;

export const noteOf = (view: NotificationView): Note => ({
  id: view.id,
  log: view.log,
  conversation: view.conversation,
  kind: view.kind,
  level: view.level,
  message: view.message,
  instruction: view.instruction,
  count: view.count,
  action: view.action,
  person: view.person,
  sender: view.sender,
  subscriber: view.subscriber,
  templated: false,
  deliver: view.deliver as Deliver | null,
  seq: view.seq,
  at: view.at,
  expiresAt: view.expiresAt,
  state: view.state,
  receipt: view.receipt,
  markedBy: view.markedBy,
  gate: view.gate,
});

/** Returns the record with this type; undefined if it has another type. */
export const as = <T extends KnownDraft['type']>(body: Draft, type: T): Extract<KnownDraft, { type: T }> | undefined =>
  body.type === type ? (body as Extract<KnownDraft, { type: T }>) : undefined;

type Carried = Pick<Extract<KnownDraft, { type: 'chat_request' }>, 'notifications' | 'summarizes'>;

/** Whether a record concerns this conversation, or the agent as a whole. */
export function concerns({ body }: Stored, conversation: string): boolean {
  const { audience } = body as { readonly audience?: readonly string[] };
  if (body.conversation !== undefined) return body.conversation === conversation;
  return audience === undefined || audience.length === 0 || audience.includes(conversation);
}

/** The ids of offered notifications by carrier, until the offer is confirmed or released. */
export type Offers = ReadonlyMap<string, readonly string[]>;
export type Known = { readonly notes: Notes; readonly offers: Offers };

export const NOTHING_KNOWN: Known = { notes: new Map(), offers: new Map() };

/** Adds the server's lists (`listed`), which are newer than the known notifications. */
export function learn(known: Known, listed: readonly NotificationView[], conversation: string): Known {
  const notes = new Map(known.notes);
  for (const view of listed) {
    if (view.conversation !== null && view.conversation !== conversation) continue;
    const before = notes.get(view.id);
    notes.set(view.id, { ...noteOf(view), templated: before?.templated ?? false });
  }
  return { notes, offers: known.offers };
}

/**
 * Closes notifications that are no longer open. `open` contains all notifications that were open when the store was at `head` or
 * later. If a notification was queued before `head` and is missing from `open`, another conversation or a record outside of this
 * page has taken the notification.
 */
export function settled(known: Known, open: ReadonlySet<string>, head: number): Known {
  const notes = new Map(known.notes);
  for (const [id, note] of notes)
    if (note.state !== 'closed' && note.seq <= head && !open.has(id)) notes.set(id, { ...note, state: 'closed', gate: false });
  return { notes, offers: known.offers };
}

export function applied(known: Known, records: readonly Stored[], conversation: string): Known {
  const notes = new Map(known.notes);
  const offers = new Map(known.offers);
  const change = (ids: readonly string[], { body }: Stored, to: (note: Note) => Partial<Note>): void => {
    for (const id of ids) {
      const note = notes.get(id);
      if (note === undefined) continue;
      // Another conversation cannot close a notification for a named conversation.
      if (note.conversation !== null && body.conversation !== undefined && body.conversation !== note.conversation) continue;
      notes.set(id, { ...note, ...to(note) });
    }
  };
  const delivered = (note: Note): Partial<Note> =>
    note.state === 'closed' ? {} : { state: 'closed', receipt: 'delivered', gate: note.action === 'pause' && note.gate };
  for (const record of records) {
    const { body } = record;
    const queued = as(body, 'system_notification_queued');
    if (queued !== undefined) {
      const before = notes.get(queued.id);
      if (before !== undefined) notes.set(queued.id, { ...before, templated: queued.subscriber?.template !== undefined });
      else if (concerns(record, conversation)) notes.set(queued.id, queuedNote(record, queued, conversation));
      // A resume lifts only earlier pauses.
      if (queued.action === 'resume')
        for (const [id, note] of notes)
          if (note.action === 'pause' && note.seq < record.seq) notes.set(id, { ...note, gate: false });
      continue;
    }
    const offered = as(body, 'carrier_offered');
    if (offered !== undefined) {
      const ids = [...offered.ids, ...(offered.summarizes ?? [])];
      offers.set(offered.carrier, ids);
      change(ids, record, (note) => (note.state === 'open' ? { state: 'offered', receipt: 'offered' } : {}));
      continue;
    }
    const confirmed = as(body, 'carrier_confirmed');
    if (confirmed !== undefined) {
      change(offers.get(confirmed.carrier) ?? [], record, delivered);
      offers.delete(confirmed.carrier);
      continue;
    }
    const released = as(body, 'carrier_released');
    if (released !== undefined) {
      change(offers.get(released.carrier) ?? [], record, (note) =>
        note.state === 'offered' ? { state: 'open', receipt: 'offered' } : {},
      );
      offers.delete(released.carrier);
      continue;
    }
    if (body.type === 'chat_request' || body.type === 'tool_call_response') {
      const { notifications = [], summarizes = [] } = body as Carried;
      for (const carried of notifications) {
        const note = notes.get(carried.id);
        if (note !== undefined && carried.subscriber?.template !== undefined) notes.set(carried.id, { ...note, templated: true });
      }
      change([...notifications.map(({ id }) => id), ...summarizes], record, delivered);
      continue;
    }
    const closed = as(body, 'notification_closed');
    if (closed !== undefined) {
      change(closed.ids, record, (note) =>
        note.state === 'closed'
          ? { gate: false }
          : {
              state: 'closed',
              gate: false,
              receipt: note.state === 'offered' || note.receipt === 'offered' ? 'maybe_seen' : closed.outcome,
            },
      );
      continue;
    }
    const folded = as(body, 'system_notification_folded');
    if (folded !== undefined) {
      change([folded.id], record, () => ({ state: 'closed', receipt: 'folded' }));
      continue;
    }
    const observed = as(body, 'notification_observed');
    if (observed !== undefined) {
      change(observed.ids, record, (note) => (note.receipt === 'read' ? {} : { receipt: 'observed' }));
      continue;
    }
    const read = as(body, 'notification_read');
    if (read !== undefined)
      change(read.ids, record, (note) => ({
        receipt: 'read',
        markedBy: isByAgent(read) || (note.receipt === 'read' && note.markedBy === null) ? null : read.by,
        gate: read.holds === true && note.gate,
      }));
    const lifted = as(body, 'gate_lifted');
    if (lifted !== undefined) change(lifted.ids, record, () => ({ gate: false }));
  }
  return { notes, offers };
}

function queuedNote(
  record: Stored,
  queued: Extract<KnownDraft, { type: 'system_notification_queued' }>,
  conversation: string,
): Note {
  const { seq, at, log } = record;
  const level = queued.level ?? 'info';
  const only = queued.conversation !== undefined || (queued.audience?.length ?? 0) > 0;
  return {
    id: queued.id,
    log,
    conversation: only ? conversation : null,
    kind: `${queued.kind.source}.${queued.kind.name}`,
    level,
    message: queued.message,
    instruction: queued.instruction ?? null,
    count: queued.count ?? 1,
    action: queued.action ?? null,
    person: queued.origin?.person ?? null,
    sender: queued.origin?.agent ?? null,
    subscriber: queued.subscriber?.id ?? null,
    templated: queued.subscriber?.template !== undefined,
    deliver: queued.deliver ?? null,
    seq,
    at,
    expiresAt: queued.expiresAt ?? null,
    state: 'open',
    receipt: 'queued',
    markedBy: null,
    gate: queued.action === 'cancel' || queued.action === 'pause' || (level === 'critical' && queued.action !== 'resume'),
  };
}

/** Returns the notifications that wait at the time `now`, in the order in which they were queued. */
export const waitingOf = (notes: Notes, now: number): Note[] =>
  [...notes.values()].filter((note) => note.state !== 'closed' && !hasExpired(note, now)).toSorted((a, b) => a.seq - b.seq);

/** Returns the time at which the next waiting notification expires; `Infinity` if none does. */
export const nextExpiry = (notes: Notes, now: number): number =>
  Math.min(...waitingOf(notes, now).flatMap(({ state, expiresAt }) => (state === 'open' ? (expiresAt ?? []) : [])));

const hasExpired = ({ state, expiresAt }: Note, now: number): boolean =>
  state === 'open' && expiresAt !== null && expiresAt <= now;

/** Returns the time at which the last pause expires: `Infinity` if it never expires, 0 if there is no pause. */
export const pausedUntil = (notes: Notes): number =>
  Math.max(
    0,
    ...[...notes.values()].flatMap(({ action, gate, expiresAt }) =>
      action === 'pause' && gate ? [expiresAt ?? Number.POSITIVE_INFINITY] : [],
    ),
  );
