/** Calls that passed a gate. */
import type { History } from '../history.ts';
import { mayBeUnread } from './lost.ts';
import {
  agentOf,
  conversationOf,
  isBroadcast,
  isInterrupt,
  missableFrom,
  projectOf,
  type Notification,
} from './notifications.ts';
import { sightsOf, type Call, type Reading } from './reading.ts';
import { activeRun, runsOf, unreachable, wasActive } from './spans.ts';

/** After so long a refusal that was read lowers the gate of a `critical` or a `cancel`. */
const READ_AFTER_MS = 950;

/** Calls that reached a server though an interrupt was acknowledged before they began and nobody had read or lifted it. */
export function throughGate(
  all: ReadonlyMap<string, Notification>,
  readings: readonly Reading[],
  storm: History['storm'],
): { readonly problems: string[]; readonly excused: number } {
  const problems: string[] = [];
  const excused = new Set<string>();
  const interrupts = [...all.values()].filter(isInterrupt);
  for (const reading of readings) {
    const { window } = reading.session.about;
    const unread = unreachable(reading, storm);
    for (const one of interrupts) {
      if (one.acknowledgedAt === undefined) continue;
      const until = Math.min(missableFrom(one), heldUntil(one, reading, readings, storm));
      for (const call of reading.calls) {
        if (!call.reached || call.sentAt <= one.acknowledgedAt || call.sentAt >= until) continue;
        if (one.action !== 'pause' && (wasRead(one, call, reading, readings) || mayBeUnread(one, readings, storm))) continue;
        if (unread.some(([from, to]) => from <= (call.receivedAt ?? Number.POSITIVE_INFINITY) && to >= call.sentAt)) {
          excused.add(call.call);
          continue;
        }
        problems.push(
          `${call.call} of ${window} reached its server ${Math.round(call.sentAt - one.acknowledgedAt)} ms after ${one.nonce} (${one.action ?? one.level}) to ${one.to} was acknowledged`,
        );
      }
    }
  }
  return { problems, excused: excused.size };
}

const [ALWAYS, NEVER] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

/**
 * Until when the interrupt raises this session's gate for certain: the session was active while it was queued, or took over
 * from one that was. An agent with two windows is held to the interrupts that name a conversation, or that go to all; what
 * one of its conversations has passes on to whichever begins first when that one is over.
 */
function heldUntil(one: Notification, reading: Reading, readings: readonly Reading[], storm: History['storm']): number {
  const { agent, window, form } = reading.session.about;
  if (isBroadcast(one.to) ? projectOf(one.to) !== projectOf(agent) : agentOf(one.to) !== agent) return NEVER;
  if (form === 'library') return NEVER;
  const named = conversationOf(one.to);
  if (named !== undefined && !runsOf(reading, storm).some(({ conversation }) => conversation === named)) return NEVER;
  const windows = new Set(
    readings.filter(({ session }) => session.about.agent === agent).map(({ session }) => session.about.window),
  );
  if (named === undefined && one.action === undefined && windows.size > 1) return NEVER;
  const run = activeRun(reading, one, storm);
  if (run !== undefined && (named === undefined || run.conversation === named))
    return windows.size > 1 && !isBroadcast(one.to) ? run.until : ALWAYS;
  // A pause of the whole project also holds for who comes while it is up.
  if (isBroadcast(one.to)) return one.action === 'pause' && reading.session.about.t > (one.acknowledgedAt ?? 0) ? ALWAYS : NEVER;
  if (windows.size > 1) return NEVER;
  // The agent's only window: a resume takes the gate over, also of a session that was refused as soon as it began.
  const had = readings.some(
    (other) =>
      other.session.about.window === window &&
      other.session.about.t < reading.session.about.t &&
      (wasActive(other, one, storm) || sightsOf(other).some(({ nonce, form }) => nonce === one.nonce && form === 'refusal')),
  );
  return had ? ALWAYS : NEVER;
}

/** A line to the agent is read by any of its windows; one to a conversation or to all, by this window. */
function wasRead(one: Notification, call: Call, { session: { about } }: Reading, readings: readonly Reading[]): boolean {
  const isShared = !isBroadcast(one.to) && !one.to.includes('#');
  return readings.some(
    (other) =>
      other.session.about.agent === about.agent &&
      (isShared || other.session.about.window === about.window) &&
      sightsOf(other).some(
        ({ nonce, form, t }) =>
          nonce === one.nonce && (form === 'pull' ? t <= call.sentAt : form === 'refusal' && t + READ_AFTER_MS <= call.sentAt),
      ),
  );
}
