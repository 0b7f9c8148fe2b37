/** Gives each case of the contract a new store, a clock that the case sets, and short functions to fill and read the store. */
import type { Item } from '../../core/items.ts';
import type { Appended, Clock, Store } from '../../core/ports.ts';
import type { Draft } from '../../core/records.ts';
import { broken, equal } from './check.ts';
import { ids, LOG } from './drafts.ts';
import { produceHere } from './producing.ts';
import type { Capability, Producing, StoreUnderTest } from './under-test.ts';

/** Registers cases with the caller's test runner. */
export type Suite = {
  readonly test: (name: string, body: Case) => void;
  /**
   * Registers a case for stores with these capabilities. If the store lacks a capability, skips the case and gives the reason.
   */
  readonly testWhere: (needs: Capability | readonly Capability[], name: string, body: Case) => void;
};

type Case = (stage: Stage) => Promise<void>;

export type Stage = {
  readonly store: Store;
  readonly clock: Clock & { time: number };
  /** Appends to `LOG`. Fails if the store refuses the drafts. */
  readonly append: (...drafts: readonly Draft[]) => Promise<Extract<Appended, { kind: 'appended' }>>;
  /** Returns the first item of `LOG` with this id. */
  readonly item: (id: string) => Promise<Item>;
  /** Makes another empty store. */
  readonly fresh: () => Promise<Store>;
  /** Opens another handle on the data of `store`. */
  readonly also: () => Promise<Store>;
  /** Reads every byte that the closed store keeps. */
  readonly contents: (of?: Store) => Promise<Uint8Array>;
  /** Starts producers that queue into `LOG` continuously. */
  readonly producers: (count: number) => Promise<Producing>;
};

/**
 * Runs a case. `rule`: its title, which a failure names. At the end, stops the producers, verifies `store`, and closes every
 * store that the case opened.
 */
export async function onStage<S extends Store>(backend: StoreUnderTest<S>, rule: string, body: Case): Promise<void> {
  const clock = { time: 1_000_000, now: (): number => clock.time };
  const store = await backend.make({ clock });
  const opened: Store[] = [];
  const running: Producing[] = [];
  const keep = <T extends Store>(one: T): T => (opened.push(one), one);

  const stage: Stage = {
    store,
    clock,
    append: async (...drafts) => {
      const appended = await store.append(LOG, drafts);
      if (appended.kind !== 'appended') throw new Error(`append: ${JSON.stringify(appended)}`);
      return appended;
    },
    item: async (id) => (await store.items(LOG, { kind: 'ids', ids: ids(id) }))[0] as Item,
    contents: async (of = store) => (backend.contents === undefined ? new Uint8Array() : backend.contents(of as S)),
    fresh: async () => keep(await backend.make({ clock })),
    also: async () => {
      if (backend.again === undefined)
        throw new Error('the store under test has no again(); add it, or name the capability in lacks');
      return keep(await backend.again(store, { clock }));
    },
    producers: async (count) => {
      const started = await (backend.producers ?? produceHere)(store, LOG, count);
      running.push(started);
      return started;
    },
  };
  const end = async (): Promise<readonly string[]> => {
    await Promise.all(running.map((one) => one.stop()));
    const problems = await store.verify().catch((error: unknown) => (String(error).includes('closed') ? [] : [String(error)]));
    await Promise.all(opened.map((one) => one.close()));
    await store.close();
    return problems;
  };

  try {
    await body(stage);
  } catch (failed) {
    // If the case fails, its error is thrown, and an error of `end` is ignored.
    await end().catch(() => []);
    throw broken(rule, failed);
  }
  equal(await end(), [], 'after each case, verify() finds no difference between the items and a replay of the records');
}

export const idsOf = (items: readonly Item[]): string[] => items.map((one) => one.id);
