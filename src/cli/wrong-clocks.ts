/** Reports wrong clocks, for `doctor`, the gateway and the server. */
import { isExpired, offBy } from '../core/clocks.ts';
import type { LogKey } from '../core/address.ts';
import type { Inbox, WrongClock } from '../inbox/index.ts';
import type { Finding } from './what-agents-miss.ts';

/**
 * The maximum number of hidden notifications that a finding names. The finding also shows the number of all hidden notifications.
 */
const NAMED = 5;

/** Reports once that the clock of this process is wrong, because a wrong clock hides notifications that seem expired. */
export class OwnClock {
  #told = false;

  async check(inbox: Inbox, tell: (line: string) => void): Promise<void> {
    if (this.#told) return;
    const own = (await inbox.witnesses.wrong()).find((clock) => clock.own);
    if (own === undefined) return;
    this.#told = true;
    tell(
      `the clock of this process is ${offBy(own.offByMs)}, and shows ${timeOf(inbox.store.now())}. Notifications that seem expired by this clock stay in the log and are not delivered here; set the clock. To list these notifications: earpiece doctor`,
    );
  }
}

/**
 * Reports each wrong clock, and the open notifications that the clock hides. If no wrong clock is known, reports a record that is
 * more than a day ahead of this process's clock.
 */
export async function wrongClocks(inbox: Inbox, logs: readonly LogKey[]): Promise<Finding[]> {
  const now = inbox.store.now();
  const findings: Finding[] = [];
  for (const clock of await inbox.witnesses.wrong()) {
    const by = clock.own ? now : now + clock.offByMs;
    const right = clock.own ? now - clock.offByMs : now;
    const held: string[] = [];
    for (const log of logs)
      for (const item of await inbox.store.items(log, { kind: 'open' }))
        if (isExpired(item, by) && !isExpired(item, right)) held.push(`${item.id} (${log})`);
    const hides =
      held.length === 0
        ? 'this clock hides no open notification now'
        : `this clock hides ${held.length} open ${held.length === 1 ? 'notification' : 'notifications'} as expired: ${held.slice(0, NAMED).join(', ')}${held.length > NAMED ? ' …' : ''}`;
    findings.push({
      what: 'clock',
      value: `the clock of ${whose(clock)} is ${offBy(clock.offByMs)}; ${hides}`,
      ok: false,
      advice: clock.own
        ? `set the clock of this machine, which shows ${timeOf(now)}`
        : `set the clock of process ${clock.owner.pid}, or restart this process`,
    });
  }
  const ahead = findings.length > 0 ? undefined : await logAhead(inbox, logs);
  return ahead === undefined ? findings : [...findings, ahead];
}

/**
 * Reports the first log whose newest record is more than a day ahead of this process's clock. The clock of the record's writer or
 * this clock may be wrong.
 */
async function logAhead(inbox: Inbox, logs: readonly LogKey[]): Promise<Finding | undefined> {
  const now = inbox.store.now();
  for (const log of logs) {
    const [newest] = await inbox.store.read({ log, newestFirst: true, limit: 1 });
    if (newest === undefined) continue;
    const said = newest.clock ?? newest.at;
    if (said - now <= DAY_MS) continue;
    return {
      what: 'clock',
      value: `the newest record of ${log} is from ${timeOf(said)}, but this clock shows ${timeOf(now)}. Either this clock is ${offBy(now - said)}, or the clock of the record's writer was ahead`,
      ok: false,
      advice: 'compare the clocks of the machines that write to this database',
    };
  }
  return undefined;
}

const DAY_MS = 86_400_000;
const whose = ({ owner, own }: WrongClock): string => (own ? 'this process' : `process ${owner.pid} on ${owner.machine}`);
const timeOf = (at: number): string => (Number.isNaN(new Date(at).getTime()) ? `${at} ms` : new Date(at).toISOString());
