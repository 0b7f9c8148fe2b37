/** Finds notifications that no model was shown. */
import type { History } from '../history.ts';
import { mayBeUnread } from './held.ts';
import { agentOf, isBroadcast, isReplaced, missableFrom, projectOf, type Notification } from './notifications.ts';
import { sightsOf, type Reading } from './reading.ts';
import { activeRun, runsOf, wasUnknown, type Run } from './spans.ts';

type All = ReadonlyMap<string, Notification>;

/**
 * Returns notifications that had to arrive and that no client of the agent was shown. A broadcast had to reach each active window
 * or its heir. `unknown` counts the broadcasts that a working window missed because its gateway could not reach its store: the
 * product could not know of that window.
 */
export function lost(
  all: All,
  readings: readonly Reading[],
  storm: History['storm'],
): { readonly problems: string[]; readonly unknown: number } {
  const problems: string[] = [];
  let unknown = 0;
  const seen = new Map(readings.map((reading) => [reading, new Set(sightsOf(reading).map(({ nonce }) => nonce))] as const));
  const runs = readings.flatMap((reading) => runsOf(reading, storm));
  for (const one of all.values()) {
    if (one.acknowledgedAt === undefined || missableFrom(one) < Infinity || isReplaced(one, all, Infinity)) continue;
    if (mayBeUnread(one, readings, storm)) continue;
    const has = (reading: Reading): boolean => seen.get(reading)?.has(one.nonce) === true;
    const what = `${one.nonce} (${one.level}${one.action === undefined ? '' : `, ${one.action}`}) to ${one.to}`;
    if (!isBroadcast(one.to)) {
      if (!readings.some((reading) => reading.session.about.agent === agentOf(one.to) && has(reading)))
        problems.push(`${what} was acknowledged and reached no client of the agent`);
      continue;
    }
    for (const reading of readings) {
      const { agent, window } = reading.session.about;
      if (projectOf(agent) !== projectOf(one.to) || has(reading)) continue;
      const active = activeRun(reading, one, storm);
      if (active === undefined) {
        if (wasUnknown(reading, one, storm)) unknown++;
        continue;
      }
      const ofAgent = runs.filter((run) => run.reading.session.about.agent === agent);
      if (!hasHeir(one.nonce, active.until, ofAgent))
        problems.push(`${what} was acknowledged while ${window} was active, and did not reach it`);
    }
  }
  return { problems, unknown };
}

/**
 * Whether an heir of the conversation that ended at `end` has the notification, or has dropped it. An heir drops a notification
 * that a conversation before it got. A simultaneous conversation has a separate copy, which proves nothing. If an heir ended
 * without a pull, the heir of that heir may have the notification.
 */
function hasHeir(nonce: string, end: number, runs: readonly Run[]): boolean {
  const tells = ({ reading, from, until }: Run): boolean =>
    sightsOf(reading).some((sight) => sight.nonce === nonce && sight.t >= from && sight.t <= until);
  const pulls = ({ reading, begunBy, until }: Run): boolean =>
    reading.shown.some(({ form, whole, sentAt, t }) => form === 'pull' && whole === true && sentAt > begunBy && t < until);
  // The first conversation after the end inherited everything. A later conversation is the heir of the first conversation.
  const first = Math.min(...runs.flatMap(({ from, begunBy }) => (from > end ? begunBy : [])));
  const heirs = runs.filter(
    ({ from, begunBy, until, reading }) =>
      begunBy > end &&
      until > end &&
      from <= first &&
      (begunBy < Infinity || reading.requests.some(({ sentAt }) => sentAt >= from && sentAt > end && sentAt <= until)),
  );
  return heirs.some(
    (heir) =>
      tells(heir) ||
      runs.some((other) => other.until <= Math.min(heir.begunBy, heir.until) && tells(other)) ||
      (!pulls(heir) && hasHeir(nonce, heir.until, runs)),
  );
}
