/**
 * Prepares waiting notifications for a list, as their agent will read them: without superseded states, and rendered by their
 * subscribers.
 */
import { splitLog, type LogKey } from '../core/address.ts';
import { filterOf, type Mute } from '../core/filter.ts';
import { isOnlyCounted, type Item } from '../core/items.ts';
import { lineAlone } from '../core/make-plan.ts';
import { stateKeyOf } from '../core/notification.ts';
import type { UserInbox } from '../user-inbox.ts';

export type Waiting = { readonly log: LogKey; readonly item: Item };

/**
 * Drops each state that a newer state replaces (see `stateKeyOf`), because the plan closes such a state as superseded. `found` is
 * newest first.
 */
export async function* withoutSuperseded(found: AsyncIterable<Waiting>): AsyncIterable<Waiting> {
  const seen = new Set<string>();
  for await (const one of found) {
    const { log, item } = one;
    const state = stateKeyOf(item.notification);
    if (state !== undefined && (item.state === 'open' || isOnlyCounted(item))) {
      const name = `${log}\n${item.audience}\n${state}`;
      if (seen.has(name)) continue;
      seen.add(name);
    }
    yield one;
  }
}

/**
 * Makes a function that returns whether a mute currently keeps an open item from the model. Mutes are read once for each agent.
 */
export function mutedOf(ear: UserInbox): (one: Waiting) => Promise<boolean> {
  const mutes = new Map<LogKey, Promise<readonly Mute[]>>();
  return async ({ log, item }) => {
    if (item.state !== 'open') return false;
    let known = mutes.get(log);
    if (known === undefined) mutes.set(log, (known = ear.mutes(log)));
    const policy = ear.policies.policy(splitLog(log).project);
    return filterOf(item.notification, policy, await known, ear.store.now())?.kind === 'mute';
  };
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
