/** The reports of `doctor`, the gateway and the server about wrong clocks. */
import { isExpired, offBy } from '../core/clocks.ts';
import type { LogKey } from '../core/address.ts';
import type { Inbox, WrongClock } from '../inbox/index.ts';
import type { Finding } from './what-agents-miss.ts';

/** The most held notifications that are named; beyond it only their number. */
const NAMED = 5;

/** Once, where the clock of this process is wrong: it hides what it takes for expired. */
export class OwnClock {
  #told = false;

  async check(inbox: Inbox, tell: (line: string) => void): Promise<void> {
    if (this.#told) return;
    const own = (await inbox.witnesses.wrong()).find((clock) => clock.own);
    if (own === undefined) return;
    this.#told = true;
    tell(
      `the clock of this process is ${offBy(own.offByMs)}: it says ${timeOf(inbox.store.now())}. What it takes for expired stays in the log and is not delivered here; set the clock. earpiece doctor names what is held.`,
    );
  }
}

/** Each wrong clock, and the open notifications that it hides. */
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
        ? 'it hides no open notification now'
        : `it takes ${held.length} open ${held.length === 1 ? 'notification' : 'notifications'} for expired and does not deliver ${held.length === 1 ? 'it' : 'them'}: ${held.slice(0, NAMED).join(', ')}${held.length > NAMED ? ' …' : ''}`;
    findings.push({
      what: 'clock',
      value: `the clock of ${whose(clock)} is ${offBy(clock.offByMs)}; ${hides}`,
      ok: false,
      advice: clock.own
        ? `set the clock of this machine: it says ${timeOf(now)}`
        : `set the clock of process ${clock.owner.pid}, or restart it`,
    });
  }
  const ahead = findings.length > 0 ? undefined : await logAhead(inbox, logs);
  return ahead === undefined ? findings : [...findings, ahead];
}

/** The newest record of a clock ahead of this one: that clock or this one is wrong, and nobody knows which. */
async function logAhead(inbox: Inbox, logs: readonly LogKey[]): Promise<Finding | undefined> {
  const now = inbox.store.now();
  for (const log of logs) {
    const [newest] = await inbox.store.read({ log, newestFirst: true, limit: 1 });
    if (newest === undefined) continue;
    const said = newest.clock ?? newest.at;
    if (said - now <= DAY_MS) continue;
    return {
      what: 'clock',
      value: `the newest record of ${log} is of ${timeOf(said)}, and this clock says ${timeOf(now)}: it is ${offBy(now - said)}, or the clock of whoever wrote the record was ahead`,
      ok: false,
      advice: 'compare the clocks of the machines that write to this database',
    };
  }
  return undefined;
}

const DAY_MS = 86_400_000;
const whose = ({ owner, own }: WrongClock): string => (own ? 'this process' : `process ${owner.pid} on ${owner.machine}`);
const timeOf = (at: number): string => (Number.isNaN(new Date(at).getTime()) ? `${at} ms` : new Date(at).toISOString());
