/** Decides whether a conversation is active, has ended, or never was a conversation. No other file makes this decision. */
import type { LogKey } from '../../core/address.ts';
import type { Presence } from '../../core/ports.ts';
import type { Owner } from '../../core/records.ts';
import type { Context, OverBecause } from '../context.ts';

/**
 * How long a conversation counts as active after its last contact, in ms, if its process cannot be checked or serves many
 * conversations.
 */
const ACTIVE_MS = 30 * 60_000;

type ProcessCheck = Pick<Context, 'store' | 'isAlive'>;

/** Returns the reason why a conversation has ended. Undefined while the conversation is active. */
export function overBecause(
  { store, isAlive }: ProcessCheck,
  { endedAt, process, shared, seenAt }: Presence,
  now: number = store.now(),
): OverBecause | undefined {
  if (endedAt !== undefined) return 'ended';
  const alive = process === undefined ? undefined : isAlive(process);
  if (alive === false) return 'died';
  if (alive === true && !shared) return undefined;
  // A contact time in the future shows a wrong clock, and does not prove that the conversation is active.
  return Math.abs(now - seenAt) > ACTIVE_MS ? 'silent' : undefined;
}

/**
 * Whether the conversation is active: it has not ended, and its process lives. If the process cannot be checked or serves many
 * conversations, the conversation is active for 30 minutes after its last contact.
 */
export const isActive = (context: ProcessCheck, presence: Presence, now?: number): boolean =>
  overBecause(context, presence, now) === undefined;

export async function activeOnes(
  context: ProcessCheck,
  query: { readonly project?: string; readonly log?: LogKey },
): Promise<readonly Presence[]> {
  const now = context.store.now();
  return (await context.store.presence(query)).filter((presence) => isActive(context, presence, now));
}

/** Whether this presence belongs to a conversation, and not to a closed client connection that called no tool. */
export const wasConversation = (context: ProcessCheck, presence: Presence): boolean =>
  presence.pending !== true || isActive(context, presence);

/** Returns the id of a conversation's current run, or the conversation's id if no run is recorded. */
export const runOf = ({ began, conversation }: Presence): string => began?.run ?? conversation;

export const isSame = (a: Owner | undefined, b: Owner | undefined): boolean =>
  a !== undefined && b !== undefined && a.machine === b.machine && a.pid === b.pid && a.startedAt === b.startedAt;
