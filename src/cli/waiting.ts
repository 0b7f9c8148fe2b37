/**
 * Prepares waiting notifications for a list, as their agent will read them: without superseded states, and rendered by their
 * subscribers.
 */
import { splitLog, type LogKey } from '../core/address.ts';
import type { FilterCause } from '../core/cause.ts';
import { filterOf, type Mute } from '../core/filter.ts';
import { isOnlyCounted, type Item } from '../core/items.ts';
import { lineAlone, NO_FACTS, notDueBecause, type Facts } from '../core/make-plan.ts';
import { isScheduled } from '../core/moments.ts';
import { stateKeyOf } from '../core/notification.ts';
import type { UserInbox } from '../user-inbox.ts';

export type Waiting = { readonly log: LogKey; readonly item: Item };

/**
 * Drops each state that a newer state replaces (see `stateKeyOf`), because the plan closes such a state as superseded. `found` is
 * newest first.
 */
export async function* withoutSuperseded(ear: UserInbox, found: AsyncIterable<Waiting>): AsyncIterable<Waiting> {
  const filteredIn = filtersOf(ear);
  const newer = new Map<string, Set<Wait>>();
  for await (const one of found) {
    const { log, item } = one;
    const { notification } = item;
    const state = stateKeyOf(notification);
    if (state !== undefined && (item.state === 'open' || isOnlyCounted(item))) {
      const nameFor = (purpose: string): string => [log, item.audience, purpose, state].join('\n');
      const { purpose = '' } = notification;
      const wait = isOnlyCounted(item) ? 'none' : waitOf(ear, one);
      const before = new Set([...(newer.get(nameFor('')) ?? []), ...(newer.get(nameFor(purpose)) ?? [])]);
      if (before.has('none') || (wait !== 'none' && before.has('point')) || (isScheduled(notification) && before.size > 0))
        continue;
      if ((await filteredIn(one)) === undefined) newer.set(nameFor(purpose), before.add(wait));
    }
    yield one;
  }
}

/** The reason why an item waits. `point`: a contact point, a tool or a turn. `time`: a time. */
type Wait = 'none' | 'point' | 'time';

function waitOf(ear: UserInbox, { log, item }: Waiting): Wait {
  const policy = ear.policies.policy(splitLog(log).project);
  const isDue = (facts: Facts): boolean => notDueBecause(item, 'tool_result', policy, facts, ear.store.now()) === undefined;
  return isDue(NO_FACTS) ? 'none' : isDue({ ...NO_FACTS, onDemand: true }) ? 'point' : 'time';
}

/**
 * Makes a function that returns why a setting or a mute currently keeps an open item from the model. Mutes are read once for each
 * agent.
 */
function filtersOf(ear: UserInbox): (one: Waiting) => Promise<FilterCause | undefined> {
  const mutes = new Map<LogKey, Promise<readonly Mute[]>>();
  return async ({ log, item }) => {
    if (item.state !== 'open') return undefined;
    let known = mutes.get(log);
    if (known === undefined) mutes.set(log, (known = ear.mutes(log)));
    return filterOf(item.notification, ear.policies.policy(splitLog(log).project), await known, ear.store.now());
  };
}

/** Makes a function that returns whether a mute currently keeps an open item from the model. */
export function mutedOf(ear: UserInbox): (one: Waiting) => Promise<boolean> {
  const filteredIn = filtersOf(ear);
  return async (one) => (await filteredIn(one))?.kind === 'mute';
}

/**
 * The maximum number of notifications of a list whose templates are rendered. If there are more, the list shows the plain
 * messages of the notifications.
 */
const RENDERED = 200;

/**
 * Renders the items that have a template and were never rendered, and returns the texts by id. The text of an item is missing if
 * its template fails. No text is returned if more than 200 items need rendering.
 */
export async function wordsOf(ear: UserInbox, found: readonly Waiting[]): Promise<ReadonlyMap<string, string>> {
  const words = new Map<string, string>();
  const { lines } = ear;
  const templated = found.filter(({ item }) => item.notification.subscriber?.template !== undefined && item.text === undefined);
  if (lines === undefined || templated.length > RENDERED) return words;
  for (const { item } of templated) {
    const rendered = await lines.render(lineAlone(item), { timeZone: ear.timeZone });
    if (rendered.kind === 'text' && rendered.text.trim() !== '') words.set(item.id, rendered.text.trim());
  }
  return words;
}
