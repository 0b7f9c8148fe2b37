/** What a model was shown again. */
import type { History } from '../history.ts';
import { isBroadcast, isInterrupt, missableFrom, type Notification } from './notifications.ts';
import { sightsOf, type Reading, type Sight } from './reading.ts';
import { unheardOf } from './spans.ts';

/**
 * A model was shown the same notification again, and nothing said so. Of an agent with two windows each has its own copy of a
 * line to all. When both end, the next session of one window may take over the unread copy of the other one: nothing tells the
 * product whose window a new session is. A window is therefore asked about such lines session by session.
 */
export function unflagged(all: ReadonlyMap<string, Notification>, readings: readonly Reading[]): string[] {
  const problems: string[] = [];
  for (const [window, sessions] of Map.groupBy(readings, ({ session }) => session.about.window)) {
    const before = new Map<string, Sight['form']>();
    const firstIn = new Map<string, Reading>();
    const agent = sessions[0]?.session.about.agent;
    const hasSibling = readings.some(({ session: { about } }) => about.agent === agent && about.window !== window);
    const mayBeSiblings = (nonce: string, reading: Reading): boolean =>
      hasSibling && isBroadcast(all.get(nonce)?.to ?? '') && (firstIn.get(nonce) ?? reading) !== reading;
    const shown = sessions
      .flatMap((reading) => reading.shown.map((each) => ({ ...each, reading })))
      .toSorted((a, b) => a.t - b.t);
    for (const { form, frame, sights: every, reading } of shown) {
      const sights = every.filter(({ nonce }) => !mayBeSiblings(nonce, reading));
      for (const { nonce } of every) if (!firstIn.has(nonce)) firstIn.set(nonce, reading);
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

/** All refusals of one gate have one text, and the pull that lowers the gate shows it once more: neither needs a flag. */
function isAgain(before: Sight['form'] | undefined, now: Sight['form']): boolean {
  if (before === undefined || now === 'refusal') return false;
  return !(before === 'refusal' && now === 'pull');
}

/**
 * A cancel releases what is being written, or was written within this time; a busy process may read the cancel before it
 * sees that the time is over.
 */
const CROSSING_MS = 500;
/** Cancels every request a while after its answer, which releases nothing. */
const CANCELS_ANSWERED: ReadonlySet<string> = new Set(['opencode']);

/**
 * On one connection a notification comes once, flagged or not: its gateway lives, so it knows what it has shown. It may come
 * again where the client cancelled the call that carried it, and where the gateway says that it could not write a receipt.
 */
export function again(
  all: ReadonlyMap<string, Notification>,
  readings: readonly Reading[],
  storm: History['storm'],
): readonly string[] {
  const problems: string[] = [];
  for (const reading of readings) {
    const { window, client } = reading.session.about;
    const crossed = ({ cancelledAt = Infinity, t }: Sight): boolean =>
      !CANCELS_ANSWERED.has(client) && cancelledAt < t + CROSSING_MS;
    const unheard = unheardOf(reading, storm);
    const byPlace = Map.groupBy(sightsOf(reading), ({ nonce, connection }) => `${nonce} ${connection}`);
    for (const sights of byPlace.values()) {
      const sorted = sights.toSorted((a, b) => a.t - b.t);
      for (const [at, later] of sorted.entries()) {
        const one = all.get(later.nonce);
        const first = sorted
          .slice(0, at)
          .find((earlier) => !crossed(earlier) && one !== undefined && !mayFollow(one, earlier, later));
        if (first === undefined || unheard.some(([from, to]) => from <= later.t && to >= first.sentAt)) continue;
        const ms = Math.round(later.t - first.t);
        problems.push(`${later.nonce} came again in ${window}, ${ms} ms after it was shown there (${first.form}, ${later.form})`);
      }
    }
  }
  return problems;
}

/** So soon behind an answer a cancel has crossed with it, however busy the gateway is, most of the time. */
const SURELY_CROSSES_MS = 100;
const ENOUGH = 5;

/**
 * A cancel that crosses with an answer releases what it carried, which comes again. A gateway that is stopped for a while may
 * read one too late, so one alone says nothing; when none of several comes again, none was released.
 */
export function unreleased(all: ReadonlyMap<string, Notification>, readings: readonly Reading[]): string[] {
  const sights = readings.flatMap((reading) => sightsOf(reading));
  const last = new Map<string, number>();
  for (const { nonce, t } of sights) last.set(nonce, Math.max(t, last.get(nonce) ?? 0));
  const crossed = readings
    .filter(({ session }) => !CANCELS_ANSWERED.has(session.about.client))
    .flatMap((reading) => sightsOf(reading))
    .filter(({ nonce, form, t, cancelledAt = Infinity }) => {
      const one = all.get(nonce);
      const isPlain = one !== undefined && !isInterrupt(one) && missableFrom(one) === Infinity && one.supersedes === undefined;
      return form === 'ride' && isPlain && cancelledAt >= t && cancelledAt < t + SURELY_CROSSES_MS;
    });
  if (crossed.length < ENOUGH || crossed.some(({ nonce, t }) => (last.get(nonce) ?? 0) > t)) return [];
  return [`${crossed.map(({ nonce }) => nonce).join(', ')} were in answers that a cancel crossed, and none came again`];
}

/**
 * An interrupt is shown until its gate is down: in each refusal, and in the pull that lowers the gate. A pause is in each pull
 * while it holds.
 */
function mayFollow(one: Notification, earlier: Sight, later: Sight): boolean {
  if (!isInterrupt(one) || later.form === 'ride' || later.form === 'message') return false;
  return one.action === 'pause' || earlier.form !== 'pull' || later.sentAt < earlier.t;
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
