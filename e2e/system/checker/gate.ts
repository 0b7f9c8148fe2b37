/** Finds calls that passed a gate. */
import type { History } from '../history.ts';
import { heldUntil, isAnyones, isCopied, mayBeUnread } from './held.ts';
import { agentOf, conversationOf, isBroadcast, isInterrupt, missableFrom, type Notification } from './notifications.ts';
import { agentsIn, seenIn, type Call, type Reading, type Seen } from './reading.ts';
import { endOf, overlaps, runsOf, unreachable } from './spans.ts';

/** A call at least this long after the last refusal lowers the gate of a critical notification or a cancel. */
const ASKED_AGAIN_MS = 1_000;
/** The tolerance for times of the product, which are whole milliseconds. */
const ROUNDED_MS = 5;

type All = ReadonlyMap<string, Notification>;

/**
 * Finds calls that reached a server although an interrupt was acknowledged before their start, and was neither read nor lifted.
 */
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
        // While a gateway cannot reach its store, it cannot record a refusal. So another process may measure the 1 s from an
        // earlier refusal, and lower the gate too early.
        const from = one.action === 'pause' ? call.sentAt : Math.min(call.sentAt, refusedAt);
        const wasOut = overlaps(out, Math.max(from, call.sentAt - ASKED_AGAIN_MS), call.receivedAt ?? Number.POSITIVE_INFINITY);
        if (wasOut || isUnreported(call, reading, storm)) {
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

/** The time that a gateway gives its store to answer. */
const STORE_WITHIN_MS = 250;

/**
 * Whether the gateway's report of an outage may be lost. For that, the call must have reached its server at least
 * `STORE_WITHIN_MS` after its start. The host must have ended before, without an answer.
 */
const isUnreported = ({ sentAt, reachedAt = 0, receivedAt }: Call, reading: Reading, storm: History['storm']): boolean =>
  receivedAt === undefined && reachedAt - sentAt >= STORE_WITHIN_MS && endOf(reading, storm) <= reachedAt;

/** The notifications of an answer that was in flight at a crash are released within this time. */
const SETTLED_MS = 1_000;

/**
 * Whether this call is the first that may show the notification to the model. If either of an agent's two windows may get the
 * notification, it raises the gates of both windows until one has read it.
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

/**
 * Returns the sights that prove a notification read for this window. If the agent's windows share the notification, the sights of
 * all its windows count. If each window has a separate copy, or the notification names a conversation, only the sights of this
 * window count.
 */
function sightsFor(one: Notification, { session: { about } }: Reading, readings: readonly Reading[]): readonly Seen[] {
  const isShared = conversationOf(one.to) === undefined && !isBroadcast(one.to) && !isCopied(one, about.agent, readings);
  return (seenIn(readings).get(one.nonce) ?? []).filter(
    ({ reading: { session } }) => session.about.agent === about.agent && (isShared || session.about.window === about.window),
  );
}

const wasPulled = (one: Notification, call: Call, reading: Reading, readings: readonly Reading[]): boolean =>
  sightsFor(one, reading, readings).some(({ form, t }) => form === 'pull' && t <= call.sentAt);

/**
 * Returns the time of the last earlier call that was refused with this interrupt. Infinity without such a call. If no refusal was
 * shown, but a result has carried the interrupt, the first later call that may have been refused counts. That call reached no
 * server and got no answer, because its gateway may have been killed after it recorded the refusal. Before the interrupt is
 * shown, such a refusal is only a lease, which is released.
 */
function lastRefusal(one: Notification, call: Call, reading: Reading, readings: readonly Reading[]): number {
  const before = sightsFor(one, reading, readings).filter(({ t }) => t <= call.sentAt);
  const refusals = before.filter(({ form }) => form === 'refusal');
  const ride = before.find(({ form }) => form === 'ride');
  const unanswered = reading.calls.filter(
    ({ sentAt, receivedAt, reachedAt }) =>
      sentAt < call.sentAt && sentAt >= (ride?.t ?? Infinity) && receivedAt === undefined && reachedAt === undefined,
  );
  return refusals.length > 0
    ? Math.max(...refusals.map(({ sentAt }) => sentAt))
    : Math.min(...unanswered.map(({ sentAt }) => sentAt), Number.POSITIVE_INFINITY);
}
