/** Finds repeated notifications that a model was shown. */
import type { History } from '../history.ts';
import { isCopied } from './held.ts';
import { isBroadcast, isInterrupt, isStanding, missableFrom, type Notification } from './notifications.ts';
import { seenIn, sightsOf, type Reading, type Seen, type Sight } from './reading.ts';
import { overlaps, unheardOf } from './spans.ts';

/**
 * Finds notifications that a model was shown again without a flag. If an agent has two windows, each window has a separate copy
 * of a notification to all agents. When both end, the next session of one window may inherit the unread copy of the other. The
 * product cannot know which window a new session belongs to. So these copies are checked session by session, and an interrupt to
 * all agents conversation by conversation.
 */
export function unflagged(all: ReadonlyMap<string, Notification>, readings: readonly Reading[]): string[] {
  const problems: string[] = [];
  for (const [window, sessions] of Map.groupBy(readings, ({ session }) => session.about.window)) {
    const before = new Map<string, Sight['form']>();
    const firstAs = new Map<string, Held>();
    const agent = sessions[0]?.session.about.agent;
    const hasSibling = readings.some(({ session: { about } }) => about.agent === agent && about.window !== window);
    const mayBeSiblings = (nonce: string, now: Held): boolean => {
      const [one, first] = [all.get(nonce), firstAs.get(nonce)];
      if (one === undefined || first === undefined) return false;
      if (isStanding(one) && !isSameConversation(first, now)) return true;
      return hasSibling && isBroadcast(one.to) && first.reading !== now.reading;
    };
    const shown = sessions
      .flatMap((reading) => reading.shown.map((each) => ({ ...each, reading })))
      .toSorted((a, b) => a.t - b.t);
    for (const { form, frame, sights: every, reading } of shown) {
      const sights = every.filter(({ nonce, conversation }) => !mayBeSiblings(nonce, { reading, conversation }));
      for (const { nonce, conversation } of every) if (!firstAs.has(nonce)) firstAs.set(nonce, { reading, conversation });
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

/**
 * Whether a repeat needs a flag. All refusals of one gate have the same text, and the pull that lowers the gate shows the
 * notification once more. These repeats need no flag.
 */
function isAgain(before: Sight['form'] | undefined, now: Sight['form']): boolean {
  if (before === undefined || now === 'refusal') return false;
  return !(before === 'refusal' && now === 'pull');
}

/**
 * A cancel releases an answer that is in progress or was written within this time. The time is generous, because a busy process
 * may read the cancel before it notices that the product's own limit has passed.
 */
const CROSSING_MS = 500;
/** Clients that cancel every request some time after its answer. Such a cancel releases no notification. */
const CANCELS_ANSWERED: ReadonlySet<string> = new Set(['opencode']);

/**
 * Finds notifications that arrived again, flagged or not, although they were certainly read. On the same connection, the living
 * gateway knows the notifications that it has shown. On a later connection, the receipt of the first answer has been written. A
 * repeat is allowed if the client cancelled the call, or if the gateway reports that it could not write a receipt.
 */
export function again(
  all: ReadonlyMap<string, Notification>,
  readings: readonly Reading[],
  storm: History['storm'],
): readonly string[] {
  return [...seenIn(readings)].flatMap(([nonce, sights]) => {
    const one = all.get(nonce);
    return sights.flatMap((later, at) => {
      const first = sights
        .slice(0, at)
        .find((earlier) => one !== undefined && isOver(one, earlier, later, readings) && !isUnheard(earlier, later, storm));
      if (first === undefined) return [];
      const [from, to] = [first, later].map(({ reading: { session } }) => session.about.window);
      const where = isSameConnection(first, later) ? 'there' : `in ${from} and certainly read`;
      const ms = Math.round(later.t - first.t);
      return [`${nonce} came again in ${to}, ${ms} ms after it was shown ${where} (${first.form}, ${later.form})`];
    });
  });
}

type Held = { readonly reading: Reading; readonly conversation?: string | undefined };

/** Whether `a` and `b` belong to one conversation. Without a name, the host process is the conversation. */
const isSameConversation = (a: Held, b: Held): boolean =>
  a.conversation === b.conversation && (a.reading === b.reading || a.conversation !== undefined);

const isSameConnection = (a: Seen, b: Seen): boolean => a.reading === b.reading && a.connection === b.connection;

/** Whether the notification was certainly read at the earlier sight, so that the later sight must not show it. */
function isOver(one: Notification, earlier: Seen, later: Seen, readings: readonly Reading[]): boolean {
  const { client } = earlier.reading.session.about;
  if (!CANCELS_ANSWERED.has(client) && (earlier.cancelledAt ?? Infinity) < earlier.t + CROSSING_MS) return false;
  if (mayFollow(one, earlier, later)) return false;
  if (isSameConnection(earlier, later)) return true;
  return isSameCopy(one, earlier, later, readings) && readBy(earlier) < later.sentAt;
}

function isSameCopy(one: Notification, a: Seen, b: Seen, readings: readonly Reading[]): boolean {
  const { agent } = a.reading.session.about;
  if (agent !== b.reading.session.about.agent) return false;
  if (isStanding(one)) return isSameConversation(a, b);
  return a.reading === b.reading || !isCopied(one, agent, readings);
}

/** A living gateway that answers another call writes the receipt within this time, even if it is busy. */
const RECEIPT_WITHIN_MS = 1_000;

/**
 * Returns the time by which the notification was certainly read: the same connection had an answer to a call made at least a
 * second later. A library user that calls `offer` also calls `confirm` before it continues. For a library user that calls
 * `carry`, see `twice`.
 */
export function readBy({ t, connection, reading: { session, requests } }: Seen): number {
  const { form, client } = session.about;
  if (form === 'library' && client === 'carry') return Infinity;
  if (form === 'library') return Math.min(...session.lines.flatMap((line) => (line.t > t ? line.t : [])));
  return Math.min(
    ...requests.flatMap(({ sentAt, receivedAt, connection: on }) =>
      on === connection && sentAt >= t + RECEIPT_WITHIN_MS && receivedAt !== undefined ? receivedAt : [],
    ),
  );
}

/** Whether the gateway of one of the two sights reported an outage between them: see `unheardOf`. */
const isUnheard = (earlier: Seen, later: Seen, storm: History['storm']): boolean =>
  [earlier.reading, later.reading].some((reading) => overlaps(unheardOf(reading, storm), earlier.sentAt, later.t));

/** A cancel within this time after an answer has usually crossed with it, even if the gateway is busy. */
const SURELY_CROSSES_MS = 100;
const ENOUGH = 5;

/**
 * Reports a problem if cancels that cross with answers release nothing. Such a cancel must release the answer's notifications, so
 * that they arrive again. A busy gateway may read a cancel too late, so at least five crossed notifications are needed, none of
 * which arrived again.
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
 * Whether an interrupt may be shown again. An interrupt is shown in each refusal, and in the pull that lowers its gate. A pause
 * is shown in each pull while the pause holds.
 */
function mayFollow(one: Notification, earlier: Sight, later: Sight): boolean {
  if (!isInterrupt(one) || later.form === 'ride' || later.form === 'message') return false;
  return one.action === 'pause' || earlier.form !== 'pull' || later.sentAt < earlier.t;
}

/** Finds notifications that are in more than one record of Earpiece's own transcript. */
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
