/** Finds notifications that a model should not have been shown. */
import type { History, SessionLine } from '../history.ts';
import { agentOf, conversationOf, isBroadcast, projectOf, statesIn, type Notification } from './notifications.ts';
import { seenIn, sightsOf, type Reading, type Sight } from './reading.ts';
import { overlaps, runsOf, unreachable, type Run } from './spans.ts';

type All = ReadonlyMap<string, Notification>;

/** Finds shown notifications that are unknown, withdrawn, too early, expired, or for another agent or conversation. */
export function uncalled(all: All, readings: readonly Reading[], storm: History['storm'], epoch: number): string[] {
  const problems: string[] = [];
  const runs = readings.flatMap((reading) => runsOf(reading, storm));
  for (const reading of readings) {
    const { agent, window } = reading.session.about;
    for (const sight of sightsOf(reading)) {
      const { nonce, t } = sight;
      const one = all.get(nonce);
      if (one === undefined) problems.push(`${window} was shown ${nonce}, which no producer sent`);
      else if (isBroadcast(one.to) ? projectOf(one.to) !== projectOf(agent) : agentOf(one.to) !== agent)
        problems.push(`${window} of ${agent} was shown ${nonce}, which is for ${one.to}`);
      else if (one.notBefore !== undefined && epoch + t < one.notBefore)
        problems.push(`${nonce} came ${Math.round(one.notBefore - epoch - t)} ms before its time`);
      else if (isElsewhere(one, sight, reading, runs))
        problems.push(`${window} was shown ${nonce}, which is for ${one.to}, a conversation that was not over`);
      else problems.push(...overdue(one, sight, reading.session.about));
    }
  }
  return problems;
}

/**
 * Whether a notification was shown to a wrong conversation. The right conversations are the conversation that the address names,
 * its heir, and the heirs of that heir.
 */
function isElsewhere({ to }: Notification, { conversation, t }: Sight, reading: Reading, runs: readonly Run[]): boolean {
  const named = conversationOf(to);
  if (named === undefined || conversation === named) return false;
  const own = runs.filter((run) => run.conversation === named && run.reading.session.about.agent === agentOf(to));
  const now = runs.find((run) => run.reading === reading && run.from <= t && run.until >= t);
  return own.length > 0 && now !== undefined && own.every(({ until }) => until > now.begunBy);
}

/** Finds notifications that were shown by a call that was sent after their withdrawal was answered, or after their expiry. */
function overdue(one: Notification, { sentAt }: Sight, { agent, window }: SessionLine): string[] {
  const { nonce, withdrawn, ttlMs, acknowledgedAt } = one;
  if (withdrawn !== undefined && sentAt > withdrawn.at) {
    const { [agent]: own, [`${projectOf(agent)}/*`]: later } = withdrawn.results;
    // A later session does not get the notification, even if no earlier session of its agent got the notification.
    const result = own ?? later;
    if (result === 'withdrawn')
      return [`${nonce} was withdrawn before anybody was told, and a later call of ${window} carried it`];
    if (result !== undefined && result !== 'too_late')
      return [`${nonce} was withdrawn (${result}), and a later call of ${window} carried it`];
  }
  if (ttlMs === undefined || acknowledgedAt === undefined || sentAt <= acknowledgedAt + ttlMs) return [];
  return [`${nonce} had expired ${Math.round(sentAt - acknowledgedAt - ttlMs)} ms before the call of ${window} that carried it`];
}

/**
 * Finds outdated states: the call that showed the older of two states of one key started after the acknowledgement of the newer
 * state.
 */
export function outdated(all: All, readings: readonly Reading[]): string[] {
  return [...statesIn(all).values()].flatMap((of) =>
    of.flatMap((older) =>
      (seenIn(readings).get(older.nonce) ?? []).flatMap(({ sentAt, repeated }) => {
        const newer = of.find(
          ({ t, acknowledgedAt = Infinity }) => t > (older.acknowledgedAt ?? Infinity) && acknowledgedAt < sentAt,
        );
        if (newer === undefined) return [];
        const ms = Math.round(sentAt - (newer.acknowledgedAt ?? 0));
        const came = repeated ? 'came again' : 'came';
        return [`${older.nonce} to ${older.to} ${came} ${ms} ms after ${newer.nonce}, a newer state of ${older.supersedes}`];
      }),
    ),
  );
}

/**
 * Finds notifications that a model was shown although the product answered `withdrawn`, which means that no agent has seen them.
 */
export function denied(all: All, readings: readonly Reading[], storm: History['storm']): string[] {
  return readings.flatMap((reading) => {
    const { agent, window } = reading.session.about;
    return sightsOf(reading).flatMap(({ nonce, sentAt, t }) => {
      const { withdrawn, withdrawingAt = 0 } = all.get(nonce) ?? {};
      // A later call is another fault: see `overdue`.
      if (withdrawn?.results[agent] !== 'withdrawn' || sentAt > withdrawn.at) return [];
      // While a gateway cannot reach its store, it cannot record that a refusal showed the notification. So another process may
      // still answer `withdrawn`.
      if (overlaps(unreachable(reading, storm), sentAt, t)) return [];
      const when = t < withdrawingAt ? `${Math.round(withdrawingAt - t)} ms before` : 'while';
      return [`${nonce} was called withdrawn, which nobody was told, and ${window} was shown it ${when} that was asked`];
    });
  });
}
