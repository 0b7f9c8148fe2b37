/** Finds notifications that a pull should have listed. */
import type { History } from '../history.ts';
import { isCopied, mayBeUnread } from './held.ts';
import { agentOf, conversationOf, isBroadcast, isReplaced, missableFrom, projectOf, type Notification } from './notifications.ts';
import { agentsIn, seenIn, type Reading, type Seen, type Shown } from './reading.ts';
import { activeRun, overlaps, runsOf, unreachable } from './spans.ts';

type All = ReadonlyMap<string, Notification>;

/** Answers that were in flight at a crash, or that their gateway gave up, are released within this time. */
const SETTLED_MS = 1_000;

/**
 * Finds notifications that were acknowledged before a pull of their conversation and are missing in its answer. Notifications
 * that another answer may have contained at that time are left out.
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
 * Whether the pulling conversation is a recipient. Without `isOwn` (a separate copy for each conversation) and without a named
 * conversation, any conversation of the agent is a recipient. Otherwise, the conversation must have been active from the request
 * to the pull, because an heir may take some notifications of an ended conversation.
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
 * Whether another answer may have contained notifications at the time of the pull. Another answer may contain notifications if
 * another request of the agent was in flight, or had just ended without an answer. The same applies if a gateway had just
 * reported an unreachable store.
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
