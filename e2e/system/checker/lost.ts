/** What a model was never shown, or shown too late. */
import type { History } from '../history.ts';
import {
  agentOf,
  conversationOf,
  isBroadcast,
  isInterrupt,
  missableFrom,
  projectOf,
  type Notification,
} from './notifications.ts';
import { sightsOf, type Reading, type Shown } from './reading.ts';
import { activeRun, endOf, runsOf, type Run } from './spans.ts';

type All = ReadonlyMap<string, Notification>;

/** Acknowledged, not taken back, and in no frame that a model was shown. */
export function lost(all: All, readings: readonly Reading[], storm: History['storm']): string[] {
  const problems: string[] = [];
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
      const active = projectOf(agent) === projectOf(one.to) ? activeRun(reading, one, storm) : undefined;
      if (active === undefined || has(reading)) continue;
      const ofAgent = runs.filter((run) => run.reading.session.about.agent === agent);
      if (!hasHeir(one.nonce, active.until, ofAgent))
        problems.push(`${what} was acknowledged while ${window} was active, and did not reach it`);
    }
  }
  return problems;
}

/**
 * An heir of the conversation that was over at `end` has it, or dropped it because one that was over before the heir began was
 * told. Who was there at the same time has a copy of its own, which excuses nothing; an heir that has pulled holds nothing back.
 */
function hasHeir(nonce: string, end: number, runs: readonly Run[]): boolean {
  const tells = ({ reading, from, until }: Run): boolean =>
    sightsOf(reading).some((sight) => sight.nonce === nonce && sight.t >= from && sight.t <= until);
  const pulls = ({ reading, begunBy, until }: Run): boolean =>
    reading.shown.some(({ form, whole, sentAt, t }) => form === 'pull' && whole === true && sentAt > begunBy && t < until);
  // The first one that has begun after the end took everything over; one that began later is the heir of that one.
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

/**
 * A host was killed while it waited for an answer, and the gateway may have refused that call with this interrupt just before: an
 * answer that was written counts as delivered. What the client had asked for before was answered without it.
 */
export function mayBeUnread(one: Notification, readings: readonly Reading[], storm: History['storm']): boolean {
  if (!isInterrupt(one)) return false;
  return readings.some((reading) => {
    const { agent } = reading.session.about;
    if (isBroadcast(one.to) ? projectOf(one.to) !== projectOf(agent) : agentOf(one.to) !== agent) return false;
    const end = endOf(reading, storm);
    const open = reading.requests.find(
      ({ sentAt, receivedAt, endsBy = end }) => receivedAt === undefined && sentAt < end && endsBy >= end,
    );
    if (open === undefined || one.t >= end || reading.session.lines.some(({ kind }) => kind === 'over')) return false;
    const answered = Math.max(...reading.requests.flatMap(({ sentAt, receivedAt }) => (receivedAt === undefined ? [] : sentAt)));
    return (one.acknowledgedAt ?? Infinity) > answered;
  });
}

/** A newer state of its key was asked for by then, or may be: of two that overlap it is not known which came first. */
const isReplaced = ({ nonce, supersedes, to, t }: Notification, all: All, by: number): boolean =>
  supersedes !== undefined &&
  [...all.values()].some(
    (other) =>
      other.nonce !== nonce &&
      other.supersedes === supersedes &&
      other.to === to &&
      other.t < by &&
      (other.acknowledgedAt ?? Infinity) > t,
  );

/** An answer that was on its way when a process died is let go when the death is seen. */
const SETTLED_MS = 1_000;

/**
 * A pull that is asked after the acknowledgement lists what is open for its conversation. Left out here is what another answer
 * may have had in its hands at that time.
 */
export function late(all: All, readings: readonly Reading[], storm: History['storm']): string[] {
  const problems: string[] = [];
  for (const [agent, ofAgent] of Map.groupBy(readings, ({ session }) => session.about.agent)) {
    const mine = [...all.values()].filter(({ to }) =>
      isBroadcast(to) ? projectOf(to) === projectOf(agent) : agentOf(to) === agent,
    );
    const sights = ofAgent.flatMap((reading) => sightsOf(reading).map((sight) => ({ ...sight, reading })));
    const byNonce = Map.groupBy(sights, ({ nonce }) => nonce);
    for (const reading of ofAgent) {
      for (const pull of reading.shown) {
        if (pull.form !== 'pull' || pull.whole !== true || isBusy(pull, ofAgent, storm)) continue;
        const listed = new Set(pull.sights.map(({ nonce }) => nonce));
        for (const one of mine) {
          if (!isOpenAt(one, pull, all) || listed.has(one.nonce) || !isFor(one, reading, pull, storm)) continue;
          const place = isBroadcast(one.to) ? [reading] : ofAgent;
          if (mayBeUnread(one, ofAgent, storm)) continue;
          if (byNonce.get(one.nonce)?.some((sight) => place.includes(sight.reading) && sight.sentAt < pull.t)) continue;
          problems.push(
            `${one.nonce} to ${one.to} is not in a pull of ${reading.session.about.window} ${Math.round(pull.sentAt - (one.acknowledgedAt ?? 0))} ms after it was acknowledged`,
          );
        }
      }
    }
  }
  return problems;
}

const isOpenAt = (one: Notification, pull: Shown, all: All): boolean =>
  one.acknowledgedAt !== undefined &&
  one.acknowledgedAt < pull.sentAt &&
  one.notBefore === undefined &&
  missableFrom(one) > pull.t &&
  !isReplaced(one, all, pull.t);

/**
 * The conversation that pulls is one of those that it is for: any of the agent; or it was active under that name all the time. One
 * that was over in between may come back with less: an heir has taken the rest.
 */
function isFor(one: Notification, reading: Reading, pull: Shown, storm: History['storm']): boolean {
  const named = conversationOf(one.to);
  if (named === undefined && !isBroadcast(one.to)) return true;
  const run = activeRun(reading, one, storm);
  return run !== undefined && run.until > pull.t && (named === undefined || named === run.conversation);
}

/** Another request of the agent was on its way meanwhile, or has just ended without an answer. */
function isBusy(pull: Shown, readings: readonly Reading[], storm: History['storm']): boolean {
  return readings.some((reading) => {
    const ends = runsOf(reading, storm).at(-1)?.until ?? Infinity;
    return reading.requests.some(({ sentAt, receivedAt, cancelledAt, endsBy = Infinity }) => {
      if (sentAt === pull.sentAt) return false;
      const isClean = receivedAt !== undefined && cancelledAt === undefined;
      const end = isClean ? receivedAt : Math.min(ends, endsBy, receivedAt ?? Infinity) + SETTLED_MS;
      return sentAt < pull.t && Math.max(end, cancelledAt === undefined ? 0 : cancelledAt + SETTLED_MS) > pull.sentAt;
    });
  });
}
