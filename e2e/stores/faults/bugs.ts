/**
 * Makes a faulty store for the bug `close_without_condition`: the append of a carry always succeeds, as if it had no condition.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isType, type Draft, type Stored } from '../../../src/core/records.ts';
import type { Appended, Store } from '../../../src/core/ports.ts';

export function withoutCondition(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'append') return (...args: Parameters<Store['append']>) => append(target, ...args);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

async function append(store: Store, ...[log, drafts, options]: Parameters<Store['append']>): Promise<Appended> {
  if (!drafts.some((draft) => isCarry(draft))) return store.append(log, drafts, options);
  // During this wait, another worker carries the same items.
  await sleep(20);
  const appended = await store.append(log, drafts, options);
  if (appended.kind !== 'conflict') return appended;
  const at = store.ordered();
  const records = drafts.map((body, n): Stored => ({ seq: n, at, log, body }));
  return { kind: 'appended', records, items: [] };
}

const isCarry = (draft: Draft): boolean => isType(draft, 'tool_call_response') && (draft.notifications ?? []).length > 0;
