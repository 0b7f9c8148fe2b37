/** Checks the text and the order of frames. */
import { isBroadcast, isReplaced, missableFrom, type Notification } from './notifications.ts';
import { sightsOf, type Reading } from './reading.ts';
import type { FrameItem } from './frames.ts';

type All = ReadonlyMap<string, Notification>;

/**
 * Checks that a shown notification contains its producer's words, and that a repeat has the same text as the first time. If some
 * notifications of a line have ended, the other notifications of the line get a new text. A notification to all agents may have a
 * different text in each conversation.
 */
export function reworded(all: All, readings: readonly Reading[]): string[] {
  const problems: string[] = [];
  const first = new Map<string, Said>();
  const sights = readings
    .flatMap((reading) => sightsOf(reading).map((sight) => ({ ...sight, about: reading.session.about })))
    .toSorted((a, b) => a.t - b.t);
  for (const { nonce, text, with: others = [], t, form, about, conversation } of sights) {
    const one = all.get(nonce);
    if (one?.text !== undefined && !text.includes(one.text))
      problems.push(`${nonce} said ${JSON.stringify(one.text)}, and ${about.window} was shown ${JSON.stringify(text)}`);
    if (form === 'pull') continue;
    const place = isBroadcast(one?.to ?? '') ? `${nonce} ${about.window} ${about.t} ${conversation}` : `${nonce} ${about.agent}`;
    const before = first.get(place);
    if (before?.text === text) continue;
    first.set(place, { text, others });
    if (before !== undefined && !isRest(all, before.others, others, t))
      problems.push(
        `${nonce} came again in ${about.window} as ${JSON.stringify(text)}, first it was ${JSON.stringify(before.text)}`,
      );
  }
  return [...problems, ...refusals(readings), ...marks(readings)];
}

type Said = { readonly text: string; readonly others: readonly string[] };

/**
 * Whether the line is the rest of an earlier line: the line contains fewer notifications, and the missing notifications may
 * have ended.
 */
function isRest(all: All, before: readonly string[], now: readonly string[], t: number): boolean {
  const missing = before.filter((nonce) => !now.includes(nonce));
  if (missing.length === 0 || now.some((nonce) => !before.includes(nonce))) return false;
  return missing.every((nonce) => {
    const one = all.get(nonce);
    return one !== undefined && (missableFrom(one) < t || isReplaced(one, all, t));
  });
}

/** Checks that on one connection, all calls that the same interrupts refused got the same text. */
function refusals(readings: readonly Reading[]): string[] {
  return readings.flatMap(({ session, shown }) => {
    const texts = new Map<string, string>();
    return shown.flatMap(({ form, frame, sights, connection }) => {
      if (form !== 'refusal' || frame === undefined) return [];
      const key = [connection, ...sights.map(({ nonce }) => nonce).toSorted()].join(' ');
      const before = texts.get(key) ?? frame.text;
      texts.set(key, before);
      if (before === frame.text) return [];
      return [`${session.about.window} was refused with ${JSON.stringify(frame.text)}, before with ${JSON.stringify(before)}`];
    });
  });
}

/** Checks that all frames of an agent have the same mark. */
function marks(readings: readonly Reading[]): string[] {
  return [...Map.groupBy(readings, ({ session }) => session.about.agent)].flatMap(([agent, each]) => {
    const found = new Set(each.flatMap(({ shown }) => shown.flatMap(({ frame }) => frame?.mark ?? [])));
    return found.size > 1 ? [`the frames of ${agent} have the marks ${[...found].join(', ')}`] : [];
  });
}

const LEVELS: readonly (string | undefined)[] = ['info', 'warning', 'error', 'critical'];

/** Checks that in each frame, the most urgent item is first, and within a level the oldest item. */
export function disordered(all: All, readings: readonly Reading[]): string[] {
  return readings.flatMap(({ session, shown }) =>
    shown.flatMap(({ frame }) => {
      const wrong = (frame?.items ?? []).find((item, at, items) => {
        const next = items[at + 1];
        return next !== undefined && (rankOf(next) > rankOf(item) || (rankOf(next) === rankOf(item) && isOlder(all, next, item)));
      });
      return wrong === undefined
        ? []
        : [`${session.about.window} was shown ${JSON.stringify(frame?.text)}: ${wrong.text} is too early`];
    }),
  );
}

const rankOf = ({ level }: FrameItem): number => LEVELS.indexOf(level);

/**
 * Whether one item is certainly older: the item was acknowledged before the other item was requested. Each log has a separate
 * copy of a notification to all agents, and a copy may be younger.
 */
function isOlder(all: All, one: FrameItem, other: FrameItem): boolean {
  const [a, b] = [one, other].map(({ nonces }) => (nonces.length === 1 ? all.get(nonces[0] ?? '') : undefined));
  if (a === undefined || b === undefined || isBroadcast(a.to) || isBroadcast(b.to)) return false;
  return a.acknowledgedAt !== undefined && a.acknowledgedAt < b.t;
}
