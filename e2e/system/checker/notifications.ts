/** What producers know of each notification: to whom, since when it must arrive, and from when on it may be missing. */
import type { ProducerLine } from '../history.ts';

type Asked = Extract<ProducerLine, { kind: 'asking' }>;

/** One notification, as its producer knows it. */
export type Notification = Asked & {
  readonly acknowledgedAt?: number;
  readonly withdrawingAt?: number;
  readonly withdrawnAt?: number;
  readonly resumingAt?: number;
};

export function notificationsOf(producers: readonly ProducerLine[]): Map<string, Notification> {
  const all = new Map<string, Notification>();
  for (const line of producers) {
    const known = all.get(line.nonce);
    if (line.kind === 'asking') all.set(line.nonce, { ...line, ...known, t: known?.t ?? line.t });
    else if (known === undefined) continue;
    else if (line.kind === 'acknowledged') all.set(line.nonce, { ...known, acknowledgedAt: known.acknowledgedAt ?? line.t });
    else if (line.kind === 'withdrawing') all.set(line.nonce, { ...known, withdrawingAt: known.withdrawingAt ?? line.t });
    else if (line.kind === 'resuming') all.set(line.nonce, { ...known, resumingAt: known.resumingAt ?? line.t });
    else if (line.kind === 'withdrawn' && line.result === 'withdrawn') all.set(line.nonce, { ...known, withdrawnAt: line.t });
  }
  return all;
}

export const projectOf = (address: string): string => address.slice(0, address.indexOf('/'));
export const isBroadcast = (to: string): boolean => to.endsWith('/*');
export const agentOf = (to: string): string => to.replace(/#.*/, '');
