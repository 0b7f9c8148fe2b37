/** The promises, asked of what clients received. Each rule gives one sentence for each place where it does not hold. */
import type { History, ProducerLine } from '../history.ts';
import type { Call, Reading, Sight } from './reading.ts';

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

const projectOf = (address: string): string => address.slice(0, address.indexOf('/'));
const isBroadcast = (to: string): boolean => to.endsWith('/*');
const agentOf = (to: string): string => to.replace(/#.*/, '');

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

type Spans = readonly (readonly [from: number, to: number])[];
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
const wasActive = (reading: Reading, { t, acknowledgedAt = t }: Notification, storm: History['storm']): boolean =>
  activeSpans(reading, storm).some(([from, to]) => from < t && to > acknowledgedAt);

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

/** A model was shown the same notification again, and nothing said so. */
export function unflagged(all: ReadonlyMap<string, Notification>, readings: readonly Reading[]): string[] {
  const problems: string[] = [];
  for (const [window, sessions] of Map.groupBy(readings, ({ session }) => session.about.window)) {
    const before = new Map<string, Sight['form']>();
    const first = new Map<string, string>();
    const agent = sessions[0]?.session.about.agent;
    const hasSiblings = readings.some(({ session: { about } }) => about.agent === agent && about.window !== window);
    const shown = sessions
      .flatMap((reading) => reading.shown.map((each) => ({ ...each, reading })))
      .toSorted((a, b) => a.t - b.t);
    for (const { t, form, frame, sights: every, reading } of shown) {
      const now = sessionAt(reading, t);
      // Each window has its own copy of a line to all. A new session may take over a sibling's unread copy of one that an
      // earlier session of its window had: nothing tells the product that it is the same person's window.
      const sights = every.filter(
        ({ nonce }) => !hasSiblings || !isBroadcast(all.get(nonce)?.to ?? '') || (first.get(nonce) ?? now) === now,
      );
      for (const { nonce } of every) if (!first.has(nonce)) first.set(nonce, now);
      const again = sights.filter(({ nonce, repeated }) => isAgain(before.get(nonce), form) && !(form === 'pull' && repeated));
      if (form === 'pull')
        for (const { nonce } of again) problems.push(`${nonce} was pulled in ${window} though it was shown before, unflagged`);
      if (form === 'ride' || form === 'message') {
        const nonces = new Set(again.map(({ nonce }) => nonce));
        const items = (frame?.items ?? []).filter((item) => item.nonces.some((nonce) => nonces.has(nonce)));
        if (items.length > (frame?.repeated ?? 0))
          problems.push(
            `${[...nonces].join(', ')} came again in ${window}, and the frame calls ${frame?.repeated ?? 0} repeated`,
          );
      }
      for (const { nonce, form: how } of sights) if (before.get(nonce) === undefined || how !== 'ride') before.set(nonce, how);
    }
  }
  return problems;
}

/** A host process has a new session after each `/clear`. */
const sessionAt = ({ session }: Reading, t: number): string =>
  `${session.about.t} ${session.lines.filter((line) => line.kind === 'renamed' && line.t <= t).length}`;

/** All refusals of one gate have one text, and the pull that lowers the gate shows it once more: neither needs a flag. */
function isAgain(before: Sight['form'] | undefined, now: Sight['form']): boolean {
  if (before === undefined || now === 'refusal') return false;
  return !(before === 'refusal' && now === 'pull');
}

/** In the transcript that we own a notification is in one record, however often its process was killed. */
export function twice(readings: readonly Reading[]): string[] {
  const records = new Map<string, Set<string>>();
  for (const { session } of readings)
    for (const line of session.lines)
      if (line.kind === 'message' && line.way === 'carry')
        for (const nonce of line.text.match(/nonce-[0-9a-f]{12}/g) ?? [])
          records.set(
            `${session.about.agent} ${nonce}`,
            (records.get(`${session.about.agent} ${nonce}`) ?? new Set()).add(line.key),
          );
  return [...records].flatMap(([what, keys]) => (keys.size > 1 ? [`${what} is in ${keys.size} records of one transcript`] : []));
}

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

/** After so long a refusal that was read lowers the gate of a `critical` or a `cancel`. */
const READ_AFTER_MS = 950;

/** Calls that reached a server though an interrupt was acknowledged before they began and nobody had read or lifted it. */
export function throughGate(
  all: ReadonlyMap<string, Notification>,
  readings: readonly Reading[],
  storm: History['storm'],
): { readonly problems: string[]; readonly excused: number } {
  const problems: string[] = [];
  const excused = new Set<string>();
  const interrupts = [...all.values()].filter(({ level, action }) => level === 'critical' || action !== undefined);
  for (const reading of readings) {
    const { window } = reading.session.about;
    const unread = unreachable(reading, storm);
    for (const one of interrupts) {
      if (one.acknowledgedAt === undefined || !holdsFor(one, reading, readings, storm)) continue;
      const until = Math.min(one.withdrawingAt ?? Number.POSITIVE_INFINITY, one.resumingAt ?? Number.POSITIVE_INFINITY);
      for (const call of reading.calls) {
        if (!call.reached || call.sentAt <= one.acknowledgedAt || call.sentAt >= until) continue;
        if (one.action !== 'pause' && wasRead(one, call, reading, readings)) continue;
        if (unread.some(([from, to]) => from <= (call.receivedAt ?? Number.POSITIVE_INFINITY) && to >= call.sentAt)) {
          excused.add(call.call);
          continue;
        }
        problems.push(
          `${call.call} of ${window} reached its server ${Math.round(call.sentAt - one.acknowledgedAt)} ms after ${one.nonce} (${one.action ?? one.level}) to ${one.to} was acknowledged`,
        );
      }
    }
  }
  return { problems, excused: excused.size };
}

/**
 * Whether the interrupt raises this session's gate for certain: the session was active while it was queued, or took over
 * from one that was. An agent with two windows is held to the interrupts that name a conversation, or that go to all.
 */
function holdsFor(one: Notification, reading: Reading, readings: readonly Reading[], storm: History['storm']): boolean {
  const { agent, window, conversation } = reading.session.about;
  if (isBroadcast(one.to) ? projectOf(one.to) !== projectOf(agent) : agentOf(one.to) !== agent) return false;
  if (reading.session.about.form === 'library') return false;
  const named = /#(.*)/.exec(one.to)?.[1];
  const names = [conversation, ...reading.session.lines.flatMap((line) => (line.kind === 'renamed' ? line.conversation : []))];
  if (named !== undefined && !names.includes(named)) return false;
  const windows = new Set(
    readings.filter(({ session }) => session.about.agent === agent).map(({ session }) => session.about.window),
  );
  if (named === undefined && one.action === undefined && windows.size > 1) return false;
  if (wasActive(reading, one, storm)) return true;
  // A pause of the whole project also holds for who comes while it is up.
  if (isBroadcast(one.to)) return one.action === 'pause' && reading.session.about.t > (one.acknowledgedAt ?? 0);
  if (windows.size > 1) return false;
  // The agent's only window: a resume takes the gate over.
  return readings.some(
    (other) =>
      other.session.about.window === window && other.session.about.t < reading.session.about.t && wasActive(other, one, storm),
  );
}

/** A line to the agent is read by any of its windows; one to a conversation or to all, by this window. */
function wasRead(one: Notification, call: Call, { session: { about } }: Reading, readings: readonly Reading[]): boolean {
  const isShared = !isBroadcast(one.to) && !one.to.includes('#');
  return readings.some(
    (other) =>
      other.session.about.agent === about.agent &&
      (isShared || other.session.about.window === about.window) &&
      sightsOf(other).some(
        ({ nonce, form, t }) =>
          nonce === one.nonce && (form === 'pull' ? t <= call.sentAt : form === 'refusal' && t + READ_AFTER_MS <= call.sentAt),
      ),
  );
}

/** While a gateway says that it cannot reach its store, calls pass: an agent never stops for it. */
function unreachable({ session }: Reading, storm: History['storm']): Spans {
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

export const sightsOf = ({ shown }: Reading): Sight[] => shown.flatMap(({ sights }) => sights);
