/** Calls that passed a gate. */
import type { History } from '../history.ts';
import { heldUntil, isAnyones, isCopied, mayBeUnread } from './held.ts';
import { agentOf, conversationOf, isBroadcast, isInterrupt, missableFrom, type Notification } from './notifications.ts';
import { agentsIn, seenIn, type Call, type Reading, type Seen } from './reading.ts';
import { overlaps, runsOf, unreachable } from './spans.ts';

/** A call that begins so long after the last refusal lowers the gate of a `critical` or a `cancel`. */
const ASKED_AGAIN_MS = 1_000;
/** The product rounds its times to whole milliseconds. */
const ROUNDED_MS = 5;

type All = ReadonlyMap<string, Notification>;

/** Calls that reached a server though an interrupt was acknowledged before they began and nobody had read or lifted it. */
export function throughGate(
  all: All,
  readings: readonly Reading[],
  storm: History['storm'],
): { readonly problems: string[]; readonly excused: number } {
  const problems: string[] = [];
  const excused = new Set<string>();
  const interrupts = [...all.values()].filter(isInterrupt);
  for (const reading of readings) {
    const { window } = reading.session.about;
    const out = unreachable(reading, storm);
    const [first, last] = [reading.calls[0]?.sentAt ?? Infinity, reading.calls.at(-1)?.sentAt ?? -Infinity];
    for (const one of interrupts) {
      if (one.acknowledgedAt === undefined || one.acknowledgedAt >= last || missableFrom(one) <= first) continue;
      const until = Math.min(missableFrom(one), heldUntil(one, reading, readings, storm));
      for (const call of reading.calls) {
        if (call.reachedAt === undefined || call.sentAt <= one.acknowledgedAt || call.sentAt >= missableFrom(one)) continue;
        if (call.sentAt >= until && !isFirst(one, call, reading, readings, storm)) continue;
        const refusedAt = lastRefusal(one, call, reading, readings);
        if (one.action !== 'pause') {
          if (wasPulled(one, call, reading, readings) || call.reachedAt - refusedAt >= ASKED_AGAIN_MS - ROUNDED_MS) continue;
          if (mayBeUnread(one, readings, storm, call.sentAt)) continue;
        }
        // A refusal that nothing could record is known to the gateway that made it, and to no other one.
        const from = one.action === 'pause' ? call.sentAt : Math.min(call.sentAt, refusedAt);
        if (overlaps(out, Math.max(from, call.sentAt - ASKED_AGAIN_MS), call.receivedAt ?? Number.POSITIVE_INFINITY)) {
          excused.add(call.call);
          continue;
        }
        const after =
          refusedAt === Number.POSITIVE_INFINITY ? '' : `, ${Math.round(call.sentAt - refusedAt)} ms after its last refusal`;
        problems.push(
          `${call.call} of ${window} reached its server ${Math.round(call.sentAt - one.acknowledgedAt)} ms after ${one.nonce} (${one.action ?? one.level}) to ${one.to} was acknowledged${after}`,
        );
      }
    }
  }
  return { problems, excused: excused.size };
}

/** An answer that was on its way when a process died is let go when the death is seen. */
const SETTLED_MS = 1_000;

/**
 * What goes to any of an agent's two windows raises the gate of each until one of them has it. No request was sent before this
 * call's answer that has shown it, or may have.
 */
function isFirst(
  one: Notification,
  call: Call,
  { session: { about } }: Reading,
  readings: readonly Reading[],
  storm: History['storm'],
): boolean {
  if (!isAnyones(one) || agentOf(one.to) !== about.agent || about.form === 'library') return false;
  const { sentAt, receivedAt = Number.POSITIVE_INFINITY } = call;
  const seen = seenIn(readings).get(one.nonce) ?? [];
  if (seen.some((sight) => sight.sentAt < receivedAt)) return false;
  return (agentsIn(readings).get(about.agent) ?? []).every((other) => {
    const end = runsOf(other, storm).at(-1)?.until ?? Number.POSITIVE_INFINITY;
    return !other.requests.some(
      (request) =>
        request.sentAt < receivedAt &&
        request.receivedAt === undefined &&
        Math.min(end, request.endsBy ?? Number.POSITIVE_INFINITY) + SETTLED_MS > sentAt,
    );
  });
}

/** A line to the agent is read by any of its windows; one to a conversation, and one of which each has a copy, by this window. */
function sightsFor(one: Notification, { session: { about } }: Reading, readings: readonly Reading[]): readonly Seen[] {
  const isShared = conversationOf(one.to) === undefined && !isBroadcast(one.to) && !isCopied(one, about.agent, readings);
  return (seenIn(readings).get(one.nonce) ?? []).filter(
    ({ reading: { session } }) => session.about.agent === about.agent && (isShared || session.about.window === about.window),
  );
}

const wasPulled = (one: Notification, call: Call, reading: Reading, readings: readonly Reading[]): boolean =>
  sightsFor(one, reading, readings).some(({ form, t }) => form === 'pull' && t <= call.sentAt);

/**
 * When the last call was made that was refused with it before this call, or may have been; Infinity where none was. A gateway
 * writes a refusal down before it answers, and may be killed in between. While nobody has been shown the interrupt, that
 * refusal is a lease, which is let go. Behind a result that carried it the refusal counts: the model has the interrupt.
 */
function lastRefusal(one: Notification, call: Call, reading: Reading, readings: readonly Reading[]): number {
  const before = sightsFor(one, reading, readings).filter(({ t }) => t <= call.sentAt);
  const refusals = before.filter(({ form }) => form === 'refusal');
  const ride = before.find(({ form }) => form === 'ride');
  const unheard = reading.calls.filter(
    ({ sentAt, receivedAt, reachedAt }) =>
      sentAt < call.sentAt && sentAt >= (ride?.t ?? Infinity) && receivedAt === undefined && reachedAt === undefined,
  );
  const times = [...refusals, ...unheard].map(({ sentAt }) => sentAt);
  return times.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...times);
}
