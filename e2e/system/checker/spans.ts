/** When a session was there: until when it lived, from when on it was active, when its gateway could not reach its store. */
import type { History } from '../history.ts';
import type { Notification } from './notifications.ts';
import type { Reading } from './reading.ts';

/** When this life of a session was over for certain, as far as the storm knows. */
export function endOf({ session }: Reading, storm: History['storm']): number {
  const killed = storm.find((line) => line.kind === 'killed' && line.pid === session.about.pid && line.t >= session.about.t);
  const over = session.lines.find((line) => line.kind === 'over');
  return Math.min(killed?.t ?? Number.POSITIVE_INFINITY, over?.t ?? Number.POSITIVE_INFINITY);
}

/**
 * When a session is active for certain: from the answer to its first tool call, until its host dies or closes the connection.
 * A killed gateway changes nothing while its host lives; behind HTTP there is no other process to know of.
 */
function activeSpans(reading: Reading, storm: History['storm']): Spans {
  const known = SPANS.get(reading);
  if (known !== undefined) return known;
  const spans = spansOf(reading, storm);
  SPANS.set(reading, spans);
  return spans;
}

export type Spans = readonly (readonly [from: number, to: number])[];
/** Each notification asks each session. */
const SPANS = new WeakMap<Reading, Spans>();

function spansOf(reading: Reading, storm: History['storm']): Spans {
  const { session, calls, shown } = reading;
  const end = endOf(reading, storm);
  if (session.about.form === 'library') return [[shown[0]?.t ?? Number.POSITIVE_INFINITY, end]];
  const breaks = session.lines.flatMap((line) => {
    if (line.kind === 'closing') return line.t;
    if (line.kind !== 'gateway' || line.shared === undefined) return [];
    return storm.flatMap((death) => (death.kind === 'killed' && death.pid === line.pid && death.t > line.t ? death.t : []));
  });
  const starts = [session.about.t, ...breaks].toSorted((a, b) => a - b);
  return starts.flatMap((start, i) => {
    const stop = Math.min(starts[i + 1] ?? Number.POSITIVE_INFINITY, end);
    const answered = calls.flatMap(({ receivedAt = Number.POSITIVE_INFINITY, sentAt }) =>
      sentAt >= start && receivedAt < stop ? receivedAt : [],
    );
    return answered.length === 0 ? [] : [[Math.min(...answered), stop] as const];
  });
}

/** The session was active all the time from before the question until after its answer. */
export const wasActive = (reading: Reading, { t, acknowledgedAt = t }: Notification, storm: History['storm']): boolean =>
  activeSpans(reading, storm).some(([from, to]) => from < t && to > acknowledgedAt);

/** While a gateway says that it cannot reach its store, calls pass: an agent never stops for it. */
export function unreachable({ session }: Reading, storm: History['storm']): Spans {
  const spans: [number, number][] = [];
  const shared = new Set(session.lines.flatMap((line) => (line.kind === 'gateway' && line.shared ? line.pid : [])));
  const said = [...session.lines, ...storm.filter((line) => 'pid' in line && shared.has(line.pid))];
  for (const line of said) {
    const over = line.kind === 'gateway_ended' || line.kind === 'killed';
    if (line.kind !== 'stderr' && !over) continue;
    const text = line.kind === 'stderr' ? line.text : '';
    if (text.includes('notifications cannot be reached')) spans.push([line.t - 1_000, Number.POSITIVE_INFINITY]);
    if (over || text.includes('can be reached again')) for (const span of spans) span[1] = Math.min(span[1], line.t + 100);
  }
  return spans;
}
