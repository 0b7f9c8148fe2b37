/** Computes the times of a session: its life, its activity, and the times when its gateway could not reach its store. */
import type { ClientLine, History, StormLine } from '../history.ts';
import { memo } from './memo.ts';
import type { Notification } from './notifications.ts';
import type { Reading } from './reading.ts';

/** Returns the earliest time at which the storm knows that this session had ended. */
export const endOf = memo(({ session }: Reading, storm: History['storm']): number => {
  const killed = storm.find((line) => line.kind === 'killed' && line.pid === session.about.pid && line.t >= session.about.t);
  const over = session.lines.find((line) => line.kind === 'over');
  return Math.min(killed?.t ?? Number.POSITIVE_INFINITY, over?.t ?? Number.POSITIVE_INFINITY);
});

export type Spans = readonly (readonly [from: number, to: number])[];

export const overlaps = (spans: Spans, from: number, to: number): boolean =>
  spans.some(([start, end]) => start <= to && end >= from);

/** A part of a session under one name: see `runsOf`. */
export type Run = {
  readonly reading: Reading;
  readonly conversation: string | undefined;
  readonly from: number;
  readonly until: number;
  /** The time of the first answer to a call. */
  readonly answeredBy: number;
  /**
   * The time from which other processes certainly knew of the session, because a gateway that could reach its store had answered
   * a call.
   */
  readonly begunBy: number;
};

/**
 * Splits a session into runs. A run ends when the session gets another name or when its connection closes. Over HTTP, a run also
 * ends when the gateway is killed, because no other process shows that the session exists. Over stdio, a killed gateway changes
 * nothing while its host lives.
 */
export const runsOf = memo((reading: Reading, storm: History['storm']): readonly Run[] => {
  const { about, lines } = reading.session;
  const starts: { readonly from: number; readonly conversation: string | undefined }[] = [];
  let { conversation } = about;
  let killed = false;
  for (const line of lines) {
    if (line.kind === 'gateway') killed = false;
    if (line.kind === 'gateway_ended' && line.signal !== null) killed = true;
    if (line.kind === 'renamed') ({ conversation } = line);
    if (isEnd(line, killed)) starts.push({ from: line.t, conversation });
    if (line.kind === 'gateway' && line.shared)
      for (const death of storm)
        if (death.kind === 'killed' && death.pid === line.pid && death.t > line.t) starts.push({ from: death.t, conversation });
  }
  starts.sort((a, b) => a.from - b.from);
  const end = endOf(reading, storm);
  const out = unreachable(reading, storm);
  return starts.map(({ from, conversation: name }, i) => {
    const until = Math.min(starts[i + 1]?.from ?? Number.POSITIVE_INFINITY, end);
    const answers: readonly Answered[] =
      about.form === 'library'
        ? reading.shown.map(({ t }) => ({ sentAt: t, receivedAt: t }))
        : reading.calls.flatMap(({ sentAt, receivedAt }) => (receivedAt === undefined ? [] : { sentAt, receivedAt }));
    const own = answers.filter(({ sentAt, receivedAt }) => sentAt >= from && receivedAt < until);
    const firstOf = (some: readonly Answered[]): number => Math.min(...some.map(({ receivedAt }) => receivedAt));
    const known = own.filter(({ sentAt, receivedAt }) => !overlaps(out, sentAt, receivedAt));
    return { reading, conversation: name, from, until, answeredBy: firstOf(own), begunBy: firstOf(known) };
  });
});

type Answered = { readonly sentAt: number; readonly receivedAt: number };

const isEnd = (line: ClientLine, isKilled: boolean): boolean =>
  line.kind === 'session' ||
  line.kind === 'renamed' ||
  (line.kind === 'closing' && !isKilled) ||
  (line.kind === 'deaf' && line.how === 'never') ||
  (line.kind === 'gateway_ended' && line.signal === null);

/** Whether the session was active from before the request until after its answer. */
export const wasActive = (reading: Reading, one: Notification, storm: History['storm']): boolean =>
  activeRun(reading, one, storm) !== undefined;

export const activeRun = (reading: Reading, one: Notification, storm: History['storm']): Run | undefined =>
  runsOf(reading, storm).find(({ begunBy, until }) => begunBy < one.t && until > (one.acknowledgedAt ?? one.t));

/**
 * Whether the session ran from before the request until after its answer, but was unknown. No call of the session had reached
 * the store yet, so its gateway could not record its presence.
 */
export const wasUnknown = (reading: Reading, one: Notification, storm: History['storm']): boolean =>
  runsOf(reading, storm).some(
    ({ answeredBy, begunBy, until }) => answeredBy < one.t && begunBy >= one.t && until > (one.acknowledgedAt ?? one.t),
  );

/**
 * Returns the times at which a gateway reports that it cannot reach its store. At these times, calls may pass, because store
 * trouble does not stop an agent.
 */
export const unreachable = memo((reading: Reading, storm: History['storm']): Spans => {
  const spans: [number, number][] = [];
  for (const line of saidBy(reading, storm)) {
    const over = line.kind === 'gateway_ended' || line.kind === 'killed';
    if (line.kind !== 'stderr' && !over) continue;
    const text = line.kind === 'stderr' ? line.text : '';
    if (text.includes('notifications cannot be reached')) spans.push([line.t - 1_000, Number.POSITIVE_INFINITY]);
    if (over || text.includes('can be reached again')) for (const span of spans) span[1] = Math.min(span[1], line.t + 100);
  }
  return spans;
});

/**
 * Returns the times of an outage: when the store was unreachable, and when a gateway reports that it could not record an answer's
 * outcome.
 */
export const unheardOf = memo((reading: Reading, storm: History['storm']): Spans => {
  const moments = saidBy(reading, storm).flatMap((line) =>
    line.kind === 'stderr' && line.text.includes('receipt was not written') ? [[line.t, line.t] as const] : [],
  );
  return [...unreachable(reading, storm), ...moments];
});

/** Returns all lines of a session, and the storm's lines about the shared gateways that the session used. */
function saidBy({ session }: Reading, storm: History['storm']): (ClientLine | StormLine)[] {
  const shared = new Set(session.lines.flatMap((line) => (line.kind === 'gateway' && line.shared ? line.pid : [])));
  return [...session.lines, ...storm.filter((line) => 'pid' in line && shared.has(line.pid))];
}
