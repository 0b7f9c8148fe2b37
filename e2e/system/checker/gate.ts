/** Calls that passed a gate. */
import type { History } from '../history.ts';
import { agentOf, isBroadcast, projectOf, type Notification } from './notifications.ts';
import { sightsOf, type Call, type Reading } from './reading.ts';
import { unreachable, wasActive } from './spans.ts';

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
  const interrupts = [...all.values()].filter(({ level, action }) => level === 'critical' || action !== undefined);
  for (const reading of readings) {
    const { window } = reading.session.about;
    const unread = unreachable(reading, storm);
    for (const one of interrupts) {
      if (one.acknowledgedAt === undefined || !holdsFor(one, reading, readings, storm)) continue;
      const until = Math.min(one.withdrawingAt ?? Number.POSITIVE_INFINITY, one.resumingAt ?? Number.POSITIVE_INFINITY);
      for (const call of reading.calls) {
        if (!call.reached || call.sentAt <= one.acknowledgedAt || call.sentAt >= until) continue;
        if (one.action !== 'pause' && wasRead(one, call, reading, readings)) continue;
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

/**
 * Whether the interrupt raises this session's gate for certain: the session was active while it was queued, or took over
 * from one that was. An agent with two windows is held to the interrupts that name a conversation, or that go to all.
 */
function holdsFor(one: Notification, reading: Reading, readings: readonly Reading[], storm: History['storm']): boolean {
  const { agent, window, conversation } = reading.session.about;
  if (isBroadcast(one.to) ? projectOf(one.to) !== projectOf(agent) : agentOf(one.to) !== agent) return false;
  if (reading.session.about.form === 'library') return false;
  const named = /#(.*)/.exec(one.to)?.[1];
  const names = [conversation, ...reading.session.lines.flatMap((line) => (line.kind === 'renamed' ? line.conversation : []))];
  if (named !== undefined && !names.includes(named)) return false;
  const windows = new Set(
    readings.filter(({ session }) => session.about.agent === agent).map(({ session }) => session.about.window),
  );
  if (named === undefined && one.action === undefined && windows.size > 1) return false;
  if (wasActive(reading, one, storm)) return true;
  // A pause of the whole project also holds for who comes while it is up.
  if (isBroadcast(one.to)) return one.action === 'pause' && reading.session.about.t > (one.acknowledgedAt ?? 0);
  if (windows.size > 1) return false;
  // The agent's only window: a resume takes the gate over.
  return readings.some(
    (other) =>
      other.session.about.window === window && other.session.about.t < reading.session.about.t && wasActive(other, one, storm),
  );
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
