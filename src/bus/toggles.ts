/**
 * Switches subscribers off and on, for a user or a project. The store keeps the list, so every process applies a change at the
 * next event.
 */
import { logOf, parseAddress } from '../core/address.ts';
import { didYouMean, EarpieceError } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { notAPerson, type Inbox } from '../inbox/index.ts';
import type { SubscriberSet } from './subscriber.ts';

/** `user` means all projects of this store. */
export type ToggleScope = { readonly kind: 'user' } | { readonly kind: 'project'; readonly project: string };

/** Ids in alphabetical order. */
export type Toggled = { readonly user: readonly string[]; readonly project: readonly string[] };

export type SubscriberToggles = {
  /**
   * Returns all ids that are off in a project. A core subscriber stays on even if the list includes it. The subscriber may have
   * become core after it was switched off.
   */
  disabled(project: string): Promise<ReadonlySet<string>>;
  lists(project: string): Promise<Toggled>;
  /**
   * Switches a subscriber off. Returns false if the subscriber was already off. `set`: the existing subscribers. Throws
   * `not_found` for an unknown id, and `bad_subscriber` for a core subscriber.
   */
  disable(scope: ToggleScope, id: string, by: string, set: SubscriberSet): Promise<boolean>;
  /**
   * Switches a subscriber on. Returns false if the subscriber was already on. Throws `not_found` for an id that is neither known
   * nor switched off.
   */
  enable(scope: ToggleScope, id: string, by: string, set: SubscriberSet): Promise<boolean>;
  /** Replaces the whole list. On an error, nothing changes. Resolves with the new list. */
  set(scope: ToggleScope, ids: readonly string[], by: string, set: SubscriberSet): Promise<readonly string[]>;
};

export function subscriberToggles(inbox: Inbox): SubscriberToggles {
  const listOf = async (key: string): Promise<readonly string[]> => readList(await inbox.store.setting(key));
  const change = async (
    scope: ToggleScope,
    by: string,
    next: (old: readonly string[]) => readonly string[],
  ): Promise<{ changed: boolean; list: readonly string[] }> => {
    if (inbox.speaker !== undefined) throw notAPerson('to switch a subscriber on or off', inbox.speaker);
    const key = keyOf(scope);
    for (;;) {
      const from = await inbox.store.setting(key);
      const old = readList(from);
      const list = [...new Set(next(old))].sort();
      const off = list.filter((id) => !old.includes(id));
      const on = old.filter((id) => !list.includes(id));
      if (off.length === 0 && on.length === 0) return { changed: false, list };
      const swap = { key, from, to: list.length === 0 ? undefined : list };
      // If another process changes the list first, this change applies to the changed list.
      if (scope.kind === 'user') {
        if (!(await inbox.store.swapSetting(key, swap.from, swap.to))) continue;
        return { changed: true, list };
      }
      const said = { scope: scope.kind, by };
      const drafts = [
        ...off.map((subscriber) => ({ type: 'subscriber_disabled', subscriber, ...said })),
        ...on.map((subscriber) => ({ type: 'subscriber_enabled', subscriber, ...said })),
      ];
      const written = await inbox.store.append(logOf(parseAddress(`${scope.project}/*`)), drafts, { swaps: [swap] });
      if (written.kind !== 'appended') continue;
      return { changed: true, list };
    }
  };
  return {
    async disabled(project) {
      const { user, project: own } = await this.lists(project);
      return new Set([...user, ...own]);
    },
    async lists(project) {
      const [user, own] = await Promise.all([listOf(keyOf({ kind: 'user' })), listOf(keyOf({ kind: 'project', project }))]);
      return { user, project: own };
    },
    async disable(scope, id, by, set) {
      checkMayBeOff(id, set);
      return (await change(scope, by, (old) => [...old, id])).changed;
    },
    async enable(scope, id, by, set) {
      // Ids of subscribers that no longer exist can still be removed from the list.
      const { changed } = await change(scope, by, (old) => old.filter((each) => each !== id));
      if (!changed) checkKnown(id, set);
      return changed;
    },
    async set(scope, ids, by, set) {
      const old = await listOf(keyOf(scope));
      for (const id of ids) if (!old.includes(id)) checkMayBeOff(id, set);
      return (await change(scope, by, () => ids)).list;
    },
  };
}

/** Makes the key of a list. A project's name cannot contain "*", so no project has the key of the user's list. */
const keyOf = (scope: ToggleScope): string => `subscribers off ${scope.kind === 'user' ? '*' : scope.project}`;

const readList = (stored: Json | undefined): readonly string[] =>
  Array.isArray(stored) ? stored.filter((id): id is string => typeof id === 'string') : [];

function checkKnown(id: string, set: SubscriberSet): SubscriberSet['subscribers'][number] {
  const known = set.subscribers.find((subscriber) => subscriber.id === id);
  if (known !== undefined) return known;
  const ids = set.subscribers.map((subscriber) => subscriber.id);
  const near = didYouMean(id, ids);
  throw new EarpieceError(
    'not_found',
    `there is no subscriber ${JSON.stringify(id.slice(0, 80))}; ${near === undefined ? 'run: earpiece subscribers list' : `did you mean ${near}?`}`,
    { data: { id } },
  );
}

function checkMayBeOff(id: string, set: SubscriberSet): void {
  const { name, output } = checkKnown(id, set);
  if (!output.core) return;
  throw new EarpieceError('bad_subscriber', `${id} (${name}) cannot be disabled: ${WHY_LOCKED}`, { data: { id } });
}

/** The reason, for people, why a core subscriber stays on. */
export const WHY_LOCKED = 'agents must not miss the notifications of a core subscriber';
