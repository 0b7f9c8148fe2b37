/**
 * Counts how often a storm reached each of the moments that have different promises. A rule proves nothing about a moment that
 * never occurred.
 */
import type { History } from '../history.ts';
import { isBroadcast, isInterrupt, isStanding, missableFrom, projectOf, statesIn, type Notification } from './notifications.ts';
import { agentsIn, seenIn, type Reading, type Seen } from './reading.ts';
import { readBy } from './repeats.ts';
import { endOf, wasActive } from './spans.ts';

/** A storm of all windows must reach each of these moments within five minutes. */
export const MOMENTS = {
  crossed: 'answers with a notification that a cancel crossed',
  cameAgain: 'notifications that came again after such a cancel',
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
  read: 'notifications that were read for certain before their agent connected again',
  older: 'states that were shown before a newer one of their key came',
  takenBack: 'withdrawals before anybody was shown the notification',
  between: 'interrupts that came between two sessions, and refused the next one',
  stands: 'critical broadcasts that refused a call of a session which began later',
  waited: 'calls that passed a second after the last of several refusals',
} as const;
export type Moment = keyof typeof MOMENTS;

/** How long after an answer a cancel may still release the answer's notifications. */
const CROSSES_MS = 250;

export function reachOf(
  all: ReadonlyMap<string, Notification>,
  readings: readonly Reading[],
  storm: History['storm'],
): Readonly<Record<Moment, number>> {
  const byNonce = seenIn(readings);
  const sights = [...byNonce.values()].flat();
  const acknowledged = [...all.values()].filter(({ acknowledgedAt }) => acknowledgedAt !== undefined);
  const pauses = acknowledged.filter(({ action }) => action === 'pause');
  const isPause = (nonce: string): boolean => all.get(nonce)?.action === 'pause';
  const shown = readings.flatMap((reading) => reading.shown.map((each) => ({ ...each, reading })));
  const refusals = shown.filter(({ form }) => form === 'refusal');
  // opencode is left out, because it cancels every request after the answer.
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
    read: acknowledged.filter((one) => wasReadBefore(one, readings)).length,
    older: acknowledged.filter(
      (one) =>
        one.supersedes !== undefined &&
        (statesIn(all).get(`${one.to} ${one.supersedes}`) ?? []).some(
          (newer) => newer.t > (one.acknowledgedAt ?? Infinity) && (byNonce.get(one.nonce)?.[0]?.t ?? Infinity) < newer.t,
        ),
    ).length,
    takenBack: acknowledged.filter(({ withdrawn }) => Object.values(withdrawn?.results ?? {}).includes('withdrawn')).length,
    between: acknowledged.filter((one) => isInterrupt(one) && cameBetween(one, byNonce.get(one.nonce) ?? [])).length,
    stands: acknowledged.filter(
      (one) =>
        isStanding(one) &&
        one.action === undefined &&
        byNonce
          .get(one.nonce)
          ?.some(
            ({ form, reading: { session } }) =>
              form === 'refusal' && session.about.t > (one.acknowledgedAt ?? Number.POSITIVE_INFINITY),
          ),
    ).length,
    waited: acknowledged.filter((one) => wasWaitedFor(one, byNonce.get(one.nonce) ?? [], readings)).length,
  };
}

/** Whether the agent of the notification has connected again and made a call after the notification was certainly read. */
function wasReadBefore(one: Notification, readings: readonly Reading[]): boolean {
  const [first] = seenIn(readings).get(one.nonce) ?? [];
  if (first === undefined || isInterrupt(one) || isBroadcast(one.to)) return false;
  const by = readBy(first);
  return (agentsIn(readings).get(first.reading.session.about.agent) ?? []).some(({ requests, session }) =>
    requests.some(
      ({ sentAt, connection }) => sentAt > by && (session !== first.reading.session || connection !== first.connection),
    ),
  );
}

/** Whether the first session that the interrupt refused began after the interrupt was acknowledged. */
const cameBetween = ({ acknowledgedAt = Infinity }: Notification, sights: readonly Seen[]): boolean => {
  const first = sights.find(({ form }) => form === 'refusal');
  return first !== undefined && first.reading.session.about.t > acknowledgedAt;
};

/**
 * Whether a later call reached its server after the interrupt had refused two or more calls. The interrupt must have been shown
 * only in refusals, and the call must belong to the session of the last refusal.
 */
function wasWaitedFor({ action }: Notification, sights: readonly Seen[], readings: readonly Reading[]): boolean {
  const refusals = sights.filter(({ form }) => form === 'refusal');
  const last = refusals.at(-1);
  if (action === 'pause' || last === undefined || refusals.length < 2 || refusals.length < sights.length) return false;
  return readings.some(
    ({ session, calls }) =>
      session === last.reading.session && calls.some(({ sentAt, reachedAt }) => sentAt > last.t && reachedAt !== undefined),
  );
}

function hasTwo(one: Notification, readings: readonly Reading[], storm: History['storm']): boolean {
  const active = readings.filter(
    (reading) => projectOf(reading.session.about.agent) === projectOf(one.to) && wasActive(reading, one, storm),
  );
  return new Set(active.map(({ session }) => session.about.agent)).size < active.length;
}

/** Returns how often a client that had stopped reading got a frame for a call from before or during that time. */
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
