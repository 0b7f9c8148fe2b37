/**
 * Collects the facts that producers know of each notification: its recipient, and the times from which it must arrive and may
 * be missing.
 */
import type { ProducerLine } from '../history.ts';
import { memo } from './memo.ts';

type Asked = Extract<ProducerLine, { kind: 'asking' }>;

/** A notification, as known to its producer. */
export type Notification = Asked & {
  readonly acknowledgedAt?: number;
  readonly withdrawingAt?: number;
  /** The time of the product's answer, and its result for each log. */
  readonly withdrawn?: { readonly at: number; readonly results: Readonly<Record<string, string>> };
  readonly resumingAt?: number;
};

export function notificationsOf(producers: readonly ProducerLine[]): Map<string, Notification> {
  const all = new Map<string, Notification>();
  for (const line of producers) {
    if (isResume(line)) continue;
    const known = all.get(line.nonce);
    if (line.kind === 'asking') all.set(line.nonce, { ...line, ...known, t: known?.t ?? line.t });
    else if (known === undefined) continue;
    else if (line.kind === 'acknowledged') all.set(line.nonce, { ...known, acknowledgedAt: known.acknowledgedAt ?? line.t });
    else if (line.kind === 'withdrawing') all.set(line.nonce, { ...known, withdrawingAt: known.withdrawingAt ?? line.t });
    else {
      const { at = line.t, results = {} } = known.withdrawn ?? {};
      all.set(line.nonce, { ...known, withdrawn: { at, results: { ...results, [line.log]: line.result } } });
    }
  }
  const resumes = resumesIn(producers);
  for (const [nonce, one] of all) {
    const resumingAt = one.action === 'pause' ? liftedAt(one, resumes) : undefined;
    if (resumingAt !== undefined) all.set(nonce, { ...one, resumingAt });
  }
  return all;
}

type ResumeLine = Extract<ProducerLine, { readonly to: string; readonly kind: 'resuming' | 'resumed' }>;
const isResume = (line: ProducerLine): line is ResumeLine => line.kind === 'resuming' || line.kind === 'resumed';

type Resume = { readonly to: string; readonly from: number; readonly until: number };

function resumesIn(producers: readonly ProducerLine[]): Resume[] {
  const lines = producers.filter(isResume);
  return lines.flatMap((line) => {
    if (line.kind !== 'resuming') return [];
    const end = lines.find(({ t, kind, to }) => kind === 'resumed' && to === line.to && t >= line.t);
    return { to: line.to, from: line.t, until: end?.t ?? Number.POSITIVE_INFINITY };
  });
}

/**
 * Returns the time at which a resume lifted the pause. A resume lifts every pause of its conversation, agent or project, from
 * any person and for any address. The checker does not know which conversations of an agent are paused, so
 * a resume of one conversation counts for all of them.
 */
function liftedAt({ to, t }: Notification, resumes: readonly Resume[]): number | undefined {
  const reaches = (resume: Resume): boolean =>
    projectOf(resume.to) === projectOf(to) &&
    (isBroadcast(resume.to) || isBroadcast(to) || agentOf(resume.to) === agentOf(to)) &&
    t < resume.until;
  const times = resumes.filter(reaches).map(({ from }) => Math.max(from, t));
  return times.length === 0 ? undefined : Math.min(...times);
}

export const projectOf = (address: string): string => address.slice(0, address.indexOf('/'));
export const isBroadcast = (to: string): boolean => to.endsWith('/*');
export const agentOf = (to: string): string => to.replace(/#.*/, '');
/** Returns the conversation that an address names. */
export const conversationOf = (to: string): string | undefined => /#(.*)/.exec(to)?.[1];

/** Returns the time from which the notification may be missing: its producer withdraws it, a person resumes, or it expires. */
export const missableFrom = ({ withdrawingAt, resumingAt, ttlMs, t }: Notification): number =>
  Math.min(withdrawingAt ?? Infinity, resumingAt ?? Infinity, ttlMs === undefined ? Infinity : t + ttlMs);

export const isInterrupt = ({ level, action }: Pick<Notification, 'level' | 'action'>): boolean =>
  level === 'critical' || action !== undefined;

/**
 * Whether the notification also applies to conversations that start while the notification is open. Each conversation has a
 * separate copy.
 */
export const isStanding = (one: Pick<Notification, 'to' | 'level' | 'action'>): boolean =>
  isBroadcast(one.to) && isInterrupt(one);

type All = ReadonlyMap<string, Notification>;

/** Returns the states of each key, by address and key. */
export const statesIn = memo((all: All): ReadonlyMap<string, readonly Notification[]> => {
  const states = [...all.values()].filter(({ supersedes }) => supersedes !== undefined);
  return Map.groupBy(states, ({ to, supersedes }) => `${to} ${supersedes}`);
});

/**
 * Whether a newer state of the notification's key was, or may have been, requested before the time `by`. If two requests overlap,
 * their order is unknown.
 */
export const isReplaced = ({ nonce, supersedes, to, t }: Notification, all: All, by: number): boolean =>
  supersedes !== undefined &&
  (statesIn(all).get(`${to} ${supersedes}`) ?? []).some(
    (other) => other.nonce !== nonce && other.t < by && (other.acknowledgedAt ?? Infinity) > t,
  );
