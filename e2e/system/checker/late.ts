/** What a pull should have listed. */
import type { History } from '../history.ts';
import { isCopied, mayBeUnread } from './held.ts';
import { agentOf, conversationOf, isBroadcast, isReplaced, missableFrom, projectOf, type Notification } from './notifications.ts';
import { agentsIn, seenIn, type Reading, type Seen, type Shown } from './reading.ts';
import { activeRun, overlaps, runsOf, unreachable } from './spans.ts';

type All = ReadonlyMap<string, Notification>;

/** What was on its way when a process died, or when its gateway gave it up, is let go when that is seen. */
const SETTLED_MS = 1_000;

/**
 * A pull that is asked after the acknowledgement lists what is open for its conversation. Left out here is what another answer
 * may have had in its hands at that time.
 */
export function late(all: All, readings: readonly Reading[], storm: History['storm']): string[] {
  const problems: string[] = [];
  for (const [agent, ofAgent] of agentsIn(readings)) {
    const mine = [...all.values()].filter(({ to }) =>
      isBroadcast(to) ? projectOf(to) === projectOf(agent) : agentOf(to) === agent,
    );
    for (const reading of ofAgent) {
      const { window } = reading.session.about;
      for (const pull of reading.shown) {
        if (pull.form !== 'pull' || pull.whole !== true || isBusy(pull, ofAgent, storm)) continue;
        const listed = new Set(pull.sights.map(({ nonce }) => nonce));
        for (const one of mine) {
          if (!isOpenAt(one, pull, all) || listed.has(one.nonce)) continue;
          const isOwn = isBroadcast(one.to) || isCopied(one, agent, readings);
          if (!isFor(one, reading, { pull, isOwn, storm })) continue;
          const isHere = (sight: Seen): boolean => sight.sentAt < pull.t && (!isOwn || sight.reading === reading);
          if (seenIn(readings).get(one.nonce)?.some(isHere) || mayBeUnread(one, readings, storm, pull.t)) continue;
          const ms = Math.round(pull.sentAt - (one.acknowledgedAt ?? 0));
          problems.push(`${one.nonce} to ${one.to} is not in a pull of ${window} ${ms} ms after it was acknowledged`);
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
 * The conversation that pulls is one of those that it is for: any of the agent; or it was active, under that name, all the time.
 * One that was over in between may come back with less: an heir has taken the rest. `isOwn`: each has its own copy.
 */
function isFor(
  one: Notification,
  reading: Reading,
  { pull, isOwn, storm }: { readonly pull: Shown; readonly isOwn: boolean; readonly storm: History['storm'] },
): boolean {
  const named = conversationOf(one.to);
  if (named === undefined && !isOwn) return true;
  const run = activeRun(reading, one, storm);
  return run !== undefined && run.until > pull.t && (named === undefined || named === run.conversation);
}

/**
 * Another request of the agent was on its way meanwhile, or has just ended without an answer; or a gateway of the agent has just
 * said that it cannot reach its store, so that an offer of it may be on its way to nobody.
 */
function isBusy(pull: Shown, readings: readonly Reading[], storm: History['storm']): boolean {
  return readings.some((reading) => {
    if (overlaps(unreachable(reading, storm), pull.sentAt - SETTLED_MS, pull.t)) return true;
    const ends = runsOf(reading, storm).at(-1)?.until ?? Infinity;
    return reading.requests.some(({ sentAt, receivedAt, cancelledAt, endsBy = Infinity }) => {
      if (sentAt === pull.sentAt) return false;
      const isClean = receivedAt !== undefined && cancelledAt === undefined;
      const end = isClean ? receivedAt : Math.min(ends, endsBy, receivedAt ?? Infinity) + SETTLED_MS;
      return sentAt < pull.t && Math.max(end, cancelledAt === undefined ? 0 : cancelledAt + SETTLED_MS) > pull.sentAt;
    });
  });
}
