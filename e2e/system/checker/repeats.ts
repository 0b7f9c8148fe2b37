/** What a model was shown again. */
import { isBroadcast, type Notification } from './notifications.ts';
import type { Reading, Sight } from './reading.ts';

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
