/** What a model was never shown. */
import type { History } from '../history.ts';
import { agentOf, isBroadcast, projectOf, type Notification } from './notifications.ts';
import { sightsOf, type Reading } from './reading.ts';
import { endOf, wasActive } from './spans.ts';

/** Acknowledged, not taken back, and in no frame that a model was shown. */
export function lost(all: ReadonlyMap<string, Notification>, readings: readonly Reading[], storm: History['storm']): string[] {
  const problems: string[] = [];
  const seen = new Map(readings.map((reading) => [reading, new Set(sightsOf(reading).map(({ nonce }) => nonce))] as const));
  const newest = new Map<string, number>();
  for (const { supersedes, to, t } of all.values())
    if (supersedes !== undefined) newest.set(`${to} ${supersedes}`, Math.max(t, newest.get(`${to} ${supersedes}`) ?? 0));
  for (const one of all.values()) {
    if (one.acknowledgedAt === undefined || one.withdrawingAt !== undefined || one.resumingAt !== undefined) continue;
    if (one.supersedes !== undefined && one.t < (newest.get(`${one.to} ${one.supersedes}`) ?? 0)) continue;
    const has = (reading: Reading): boolean => seen.get(reading)?.has(one.nonce) === true;
    const what = `${one.nonce} (${one.level}${one.action === undefined ? '' : `, ${one.action}`}) to ${one.to}`;
    if (!isBroadcast(one.to)) {
      if (!readings.some((reading) => reading.session.about.agent === agentOf(one.to) && has(reading)))
        problems.push(`${what} was acknowledged and reached no client of the agent`);
      continue;
    }
    for (const reading of readings) {
      const { agent } = reading.session.about;
      if (projectOf(agent) !== projectOf(one.to) || !wasActive(reading, one, storm) || has(reading)) continue;
      const end = endOf(reading, storm);
      const heirs = readings.filter((other) => other.session.about.agent === agent && endOf(other, storm) > end);
      if (!heirs.some(has))
        problems.push(`${what} was acknowledged while ${reading.session.about.window} was active, and did not reach it`);
    }
  }
  return problems;
}
