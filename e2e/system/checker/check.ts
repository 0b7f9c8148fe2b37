/**
 * Gives the verdict on a storm. The checker reads only four sources: the requests and answers of producers, the traffic on both
 * sides of the gateways, a library user's notes, and the storm's record of its kills and findings. The checker never reads the
 * product's log, and uses none of its code.
 */
import type { History } from '../history.ts';
import { noncesIn } from './frames.ts';
import { throughGate } from './gate.ts';
import { late } from './late.ts';
import { lost } from './lost.ts';
import { notificationsOf } from './notifications.ts';
import { reachOf, type Moment } from './reach.ts';
import { read, sightsOf } from './reading.ts';
import { again, twice, unflagged, unreleased } from './repeats.ts';
import { endOf } from './spans.ts';
import { disordered, reworded } from './words.ts';
import { denied, outdated, uncalled } from './uncalled.ts';

export type Verdict = {
  readonly counts: {
    readonly acknowledged: number;
    readonly delivered: number;
    readonly calls: number;
    readonly refused: number;
    readonly repeats: number;
    readonly pulled: number;
    /** Calls that passed a gate while their gateway reported, or may have reported, that it cannot reach its store. */
    readonly excused: number;
    /** Broadcasts that a working window did not get while its gateway reported that it cannot reach its store. */
    readonly unknown: number;
  };
  readonly kills: Readonly<Record<string, number>>;
  readonly reached: Readonly<Record<Moment, number>>;
  /** The problems by rule. Each list must be empty. */
  readonly problems: Readonly<Record<Rule, readonly string[]>>;
};

export const RULES = {
  lost: 'acknowledged, and shown to no model',
  late: 'open, and not in a pull',
  unflagged: 'shown again without being called repeated',
  again: 'shown again though it was read',
  reworded: "not in their producer's words, or in other ones than the first time",
  disordered: 'frames that are not in order',
  twice: 'in two records of our own transcript',
  altered: 'tool results that are not the bytes of their server',
  misplaced: 'notifications outside their frame, or in a broken one',
  fields: 'results without `_notices` where it must be, or with it where it must not',
  uncalled: "someone else's, unsent, too early, expired or withdrawn",
  denied: 'called withdrawn, and shown to a model',
  outdated: 'older states after a newer one',
  gate: 'calls that reached a server while a gate was up',
  orphans: 'processes left behind',
  trouble: 'unanswered calls, and what the storm found itself',
} as const;
export type Rule = keyof typeof RULES;

/** Checks all rules. `epoch` is the wall-clock time minus the time of the taps. */
export function check(history: History, epoch: number): Verdict {
  const { producers, sessions, upstream, storm } = history;
  const all = notificationsOf(producers);
  const readings = sessions.map((session) => read(session, upstream));
  const sights = readings.flatMap((reading) => sightsOf(reading));
  const calls = readings.flatMap((reading) => reading.calls);
  const gate = throughGate(all, readings, storm);
  const missed = lost(all, readings, storm);
  const kills = storm.flatMap((line) =>
    line.kind === 'killed' ? [line.point === undefined ? line.what : `${line.what} at a point`] : [],
  );
  return {
    counts: {
      acknowledged: [...all.values()].filter(({ acknowledgedAt }) => acknowledgedAt !== undefined).length,
      delivered: new Set(sights.map(({ nonce }) => nonce)).size,
      calls: calls.length,
      refused: calls.filter(({ refused }) => refused).length,
      repeats: readings.flatMap(({ shown }) => shown).filter(({ frame }) => (frame?.repeated ?? 0) > 0).length,
      pulled: sights.filter(({ form }) => form === 'pull').length,
      excused: gate.excused,
      unknown: missed.unknown,
    },
    kills: Object.fromEntries(
      Object.entries(Object.groupBy(kills, (kill) => kill)).map(([kill, each]) => [kill, each?.length ?? 0]),
    ),
    reached: reachOf(all, readings, storm),
    problems: {
      lost: [...missed.problems, ...unreleased(all, readings)],
      late: late(all, readings, storm),
      unflagged: unflagged(all, readings),
      again: again(all, readings, storm),
      reworded: reworded(all, readings),
      disordered: disordered(all, readings),
      twice: twice(readings),
      altered: readings.flatMap((reading) => reading.altered),
      misplaced: [...readings.flatMap((reading) => reading.misplaced), ...inUpstream(history)],
      fields: readings.flatMap((reading) => reading.fields),
      uncalled: uncalled(all, readings, storm, epoch),
      denied: denied(all, readings, storm),
      outdated: outdated(all, readings),
      gate: gate.problems,
      orphans: storm.flatMap((line) => (line.kind === 'orphan' ? [`${line.what}, pid ${line.pid}`] : [])),
      trouble: [
        ...readings.flatMap((reading) => reading.problems),
        ...storm.flatMap((line) => (line.kind === 'problem' ? [line.text] : [])),
        ...readings
          .filter((reading) => endOf(reading, storm) === Number.POSITIVE_INFINITY)
          .map(({ session }) => `${session.about.window} has no end`),
      ],
    },
  };
}

/** Finds notifications that reached a wrapped server, although they are only for the model. */
function inUpstream({ upstream }: History): string[] {
  return [...upstream].flatMap(([call, each]) =>
    each.flatMap(({ line }) =>
      line !== undefined && noncesIn(line).length > 0 ? [`a server saw a notification in the call ${call}`] : [],
    ),
  );
}
