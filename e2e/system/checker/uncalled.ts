/** What a model should not have been shown. */
import { agentOf, isBroadcast, projectOf, type Notification } from './notifications.ts';
import { sightsOf, type Reading } from './reading.ts';

/** Someone else's notification, one that nobody asked for, one before its time, one that was taken back in time. */
export function uncalled(all: ReadonlyMap<string, Notification>, readings: readonly Reading[], epoch: number): string[] {
  const problems: string[] = [];
  for (const reading of readings) {
    const { agent, window } = reading.session.about;
    for (const { nonce, t, sentAt } of sightsOf(reading)) {
      const one = all.get(nonce);
      if (one === undefined) problems.push(`${window} was shown ${nonce}, which no producer sent`);
      else if (isBroadcast(one.to) ? projectOf(one.to) !== projectOf(agent) : agentOf(one.to) !== agent)
        problems.push(`${window} of ${agent} was shown ${nonce}, which is for ${one.to}`);
      else if (one.notBefore !== undefined && epoch + t < one.notBefore)
        problems.push(`${nonce} came ${Math.round(one.notBefore - epoch - t)} ms before its time`);
      else if (one.withdrawnAt !== undefined && sentAt > one.withdrawnAt)
        problems.push(`${nonce} was withdrawn before anybody was told, and a later call of ${window} carried it`);
    }
  }
  return problems;
}
