/** Moments in which promises differ: how often a storm came there. A rule says nothing about a moment that never was. */
import type { History } from '../history.ts';
import { isBroadcast, isInterrupt, missableFrom, projectOf, type Notification } from './notifications.ts';
import { sightsOf, type Reading } from './reading.ts';
import { endOf, wasActive } from './spans.ts';

/** Each must be reached in a storm of five minutes. */
export const MOMENTS = {
  crossed: 'answers with a notification that a cancel crossed',
  cameAgain: 'notifications that came again for that',
  cancelledLate: 'answers with a notification that were cancelled later',
  outlived: 'pauses that refused a session, and the next one after a kill',
  paused: 'refusals for two pauses at once',
  pauseLeft: 'pauses that still refused when another one was withdrawn',
  replaced: 'states that a newer one replaced before anybody was shown them',
  broadcast: 'broadcasts to two live windows of one agent',
  expired: 'notifications whose time was over before anybody was shown them',
  maybeSeen: 'withdrawals of what may have been seen',
  deaf: 'answers with a notification to a client that did not read',
  hungUp: 'connections that a client closed in the middle of a call',
  structured: 'notifications beside structured content',
} as const;
export type Moment = keyof typeof MOMENTS;

/** Behind it a cancel releases nothing. */
const CROSSES_MS = 250;

export function reachOf(
  all: ReadonlyMap<string, Notification>,
  readings: readonly Reading[],
  storm: History['storm'],
): Readonly<Record<Moment, number>> {
  const sights = readings.flatMap((reading) => sightsOf(reading).map((sight) => ({ ...sight, reading })));
  const byNonce = Map.groupBy(sights, ({ nonce }) => nonce);
  const acknowledged = [...all.values()].filter(({ acknowledgedAt }) => acknowledgedAt !== undefined);
  const pauses = acknowledged.filter(({ action }) => action === 'pause');
  const isPause = (nonce: string): boolean => all.get(nonce)?.action === 'pause';
  const shown = readings.flatMap((reading) => reading.shown.map((each) => ({ ...each, reading })));
  const refusals = shown.filter(({ form }) => form === 'refusal');
  // opencode cancels every answer.
  const cancelled = shown.flatMap(({ t, sights: { length }, cancelledAt, reading }) =>
    length > 0 && cancelledAt !== undefined && reading.session.about.client !== 'opencode' ? cancelledAt - t : [],
  );
  return {
    crossed: cancelled.filter((ms) => ms >= 0 && ms < CROSSES_MS).length,
    cameAgain: sights.filter(
      ({ nonce, t, cancelledAt = Infinity, connection, reading }) =>
        cancelledAt >= t &&
        cancelledAt - t < CROSSES_MS &&
        !isInterrupt(all.get(nonce) ?? { level: 'critical' }) &&
        reading.session.about.client !== 'opencode' &&
        byNonce.get(nonce)?.some((other) => other.reading === reading && other.connection === connection && other.t > t),
    ).length,
    cancelledLate: cancelled.filter((ms) => ms >= 2 * CROSSES_MS).length,
    outlived: pauses.filter(({ nonce }) => {
      const refused = (byNonce.get(nonce) ?? []).filter(({ form }) => form === 'refusal');
      return refused.some((first) =>
        refused.some(
          ({ reading: { session } }) =>
            session.about.t > endOf(first.reading, storm) - 1_000 && session !== first.reading.session,
        ),
      );
    }).length,
    paused: refusals.filter((each) => each.sights.filter(({ nonce }) => isPause(nonce)).length > 1).length,
    pauseLeft: pauses.filter(({ nonce, to }) =>
      byNonce
        .get(nonce)
        ?.some(
          ({ form, sentAt }) =>
            form === 'refusal' &&
            pauses.some((other) => other.to === to && other.nonce !== nonce && (other.withdrawn?.at ?? Infinity) < sentAt),
        ),
    ).length,
    replaced: acknowledged.filter(
      ({ nonce, supersedes, to, acknowledgedAt = 0 }) =>
        supersedes !== undefined &&
        !byNonce.has(nonce) &&
        acknowledged.some((other) => other.supersedes === supersedes && other.to === to && other.t > acknowledgedAt),
    ).length,
    broadcast: acknowledged.filter((one) => isBroadcast(one.to) && hasTwo(one, readings, storm)).length,
    expired: acknowledged.filter(
      (one) => one.ttlMs !== undefined && missableFrom(one) === one.t + one.ttlMs && !byNonce.has(one.nonce),
    ).length,
    maybeSeen: acknowledged.filter(({ withdrawn }) => Object.values(withdrawn?.results ?? {}).includes('maybe_seen')).length,
    deaf: readings.reduce((sum, reading) => sum + deafTo(reading), 0),
    hungUp: readings.reduce((sum, reading) => sum + hungUpIn(reading), 0),
    structured: readings.reduce((sum, { structured }) => sum + structured, 0),
  };
}

function hasTwo(one: Notification, readings: readonly Reading[], storm: History['storm']): boolean {
  const active = readings.filter(
    (reading) => projectOf(reading.session.about.agent) === projectOf(one.to) && wasActive(reading, one, storm),
  );
  return new Set(active.map(({ session }) => session.about.agent)).size < active.length;
}

/** Frames that came as soon as it read again, of calls that it made before. */
const deafTo = ({ session, shown }: Reading): number =>
  session.lines
    .flatMap((line) => (line.kind === 'hears' ? line.t : []))
    .filter((at) => shown.some(({ sentAt, t, sights }) => sentAt < at && t >= at && sights.length > 0)).length;

const hungUpIn = ({ session: { lines }, requests }: Reading): number =>
  lines.filter(
    (line) =>
      line.kind === 'deaf' &&
      line.how === 'never' &&
      requests.some(({ receivedAt, endsBy = Infinity }) => receivedAt === undefined && endsBy > line.t),
  ).length;
