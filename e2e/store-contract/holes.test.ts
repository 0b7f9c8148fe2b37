/**
 * Tests stores that each lose one kind of data when they are opened again, and stores that break a rule. The suite must name each
 * defect.
 */
import { expect, test } from 'vitest';
import type { Store } from '../../src/core/ports.ts';
import { runStoreContract, type TestRunner } from '../../src/stores/contract/contract.ts';
import type { StoreUnderTest } from '../../src/stores/contract/under-test.ts';
import { memoryStore } from '../../src/stores/memory.ts';
import { proves } from '../verifies.ts';
import { type Call, type JournalStore, openJournal } from './journal.ts';

type Case = { readonly group: string; readonly title: string; readonly body: () => Promise<void> };

const OPTIONS = { swaps: [] as unknown } as const;
const without = (name: string) => (call: Call) => (call.name === name ? undefined : call);
const optionsOf = ({ args }: Call): Partial<typeof OPTIONS> | undefined =>
  args.find((arg): arg is typeof OPTIONS => arg instanceof Object && 'swaps' in arg);

/**
 * The defects, named after the data that the store loses. Each defect has a function that drops or changes the lost calls. The
 * other texts are the beginnings of the titles of the cases that must fail, without their leading `has `.
 */
const DEFECTS: Readonly<Record<string, readonly [keeps: (call: Call) => Call | undefined, ...found: readonly string[]]>> = {
  'a whole append that swaps a setting': [
    (call) => (call.name === 'append' && optionsOf(call) !== undefined ? undefined : call),
    'the records and items of an append that swaps settings',
  ],
  'the swaps of an append': [
    (call) =>
      call.name === 'append' ? { ...call, args: call.args.filter((arg) => !(arg instanceof Object && 'swaps' in arg)) } : call,
    'the records and items of an append that swaps settings',
  ],
  'an append of several drafts': [
    (call) => (call.name === 'append' && (call.args[1] as unknown[]).length > 2 ? undefined : call),
    'each `fan_out` record',
    'nothing that prune removed',
  ],
  'the time of an append': [(call) => ({ ...call, at: Math.min(call.at, 2_000) }), 'the texts, types and fields'],
  'offers, forks and heirs': [
    (call) =>
      call.name === 'append' && (call.args[1] as { type: string }[]).some(({ type }) => /^carrier_|^conversation_/u.test(type))
        ? undefined
        : call,
    'the item that each record leaves',
  ],
  presence: [without('touch'), 'the presence of conversations'],
  'one field of presence': [
    (call) => {
      if (call.name !== 'touch') return call;
      const { mark: _mark, ...rest } = call.args[0] as { mark?: string };
      return { ...call, args: [rest] };
    },
    'the presence of conversations',
  ],
  bindings: [without('bind'), 'the newest binding'],
  'withheld results': [without('withhold'), 'the withheld results'],
  'that a withheld result was taken': [without('withheld'), 'the withheld results'],
  settings: [without('setSetting'), 'the settings'],
  'removed settings': [(call) => (call.name === 'setSetting' && call.args[1] === undefined ? undefined : call), 'the settings'],
  'swapped settings': [without('swapSetting'), 'the settings'],
  'its secret': [without('secret'), 'the same secret'],
  'a prune': [without('prune'), 'nothing that prune removed'],
  'a forget': [without('forget'), 'nothing that forget removed'],
  'the swaps of a forget': [
    (call) => (call.name === 'forget' ? { ...call, args: [call.args[0]] } : call),
    'nothing that forget removed',
  ],
  'an erase': [without('erase'), 'nothing that erase removed'],
};

/** Returns the cases of the suite for this store. */
function casesOf<S extends Store>(name: string, backend: StoreUnderTest<S>): readonly Case[] {
  const cases: Case[] = [];
  let group = '';
  const runner: TestRunner = {
    describe(title, body) {
      group = title;
      body();
    },
    test: (title, { skip }, body) => void (skip || cases.push({ group, title, body })),
  };
  runStoreContract(name, backend, runner);
  return cases;
}

const journalStore = (keeps?: (call: Call) => Call | undefined): StoreUnderTest<JournalStore> => ({
  make: ({ clock }) => openJournal({ clock, ...(keeps === undefined ? {} : { keeps }) }),
  again: ({ journal }, { clock }) => openJournal({ journal, clock, ...(keeps === undefined ? {} : { keeps }) }),
  contents: ({ journal }) => Buffer.from(JSON.stringify(journal)),
  lacks: { 'many-processes': 'a journal in one process' },
});

/** Returns the failed cases with their messages. */
async function failures(cases: readonly Case[]): Promise<Record<string, string>> {
  const failed: Record<string, string> = {};
  for (const { title, body } of cases)
    await body().catch((error: unknown) => {
      const { message, stack = '' } = error as Error;
      failed[title] = message;
      // Some runners print only the stack.
      expect(stack.includes(message), stack).toBe(true);
    });
  return failed;
}

const reopened = (backend: StoreUnderTest<JournalStore>): readonly Case[] =>
  casesOf('a journal', backend).filter(({ group }) => group === 'opened again');

test('a store that writes a journal of all calls fails only the case of erased bytes', async () => {
  proves('store:contract-holes');
  const cases = reopened(journalStore());
  expect(cases.length).toBeGreaterThan(12);
  const failed = await failures(cases);
  expect(Object.keys(failed)).toEqual(['has no byte of the erased data']);
  expect(failed['has no byte of the erased data']).toMatch(/^broken rule: erase overwrites the bytes/u);
});

test.each(Object.entries(DEFECTS))(
  'the contract fails for a store that loses %s when it is opened again',
  async (_, [keeps, ...found]) => {
    proves('store:contract-holes');
    const failed = Object.entries(await failures(reopened(journalStore(keeps))));
    for (const what of found) {
      const [, message] = failed.find(([title]) => title.startsWith(`has ${what}`)) ?? [];
      expect(message, `${what}: ${failed.map(([title]) => title).join('; ')}`).toMatch(/^broken rule: .*(?:opened again|prune)/u);
    }
  },
);

test('the contract fails for a store that repeats refused calls when it is opened again', async () => {
  proves('store:contract-holes');
  const journals = new WeakMap<JournalStore, Call[]>();
  const backend: StoreUnderTest<JournalStore> = {
    ...journalStore(),
    make: async ({ clock }) => {
      const store = await openJournal({ clock });
      // The store writes an aborted call into its journal before it checks the signal.
      const eager = new Proxy(store, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (name !== 'append') return value;
          return (...args: Parameters<typeof store.append>) => {
            if (args[2]?.signal?.aborted) store.journal.push({ at: clock.now(), name: 'append', args: args.slice(0, 2) });
            return store.append(...args);
          };
        },
      });
      journals.set(eager, store.journal);
      return eager;
    },
  };
  expect(Object.keys(await failures(reopened(backend)))).toContain(
    'has only acknowledged records: no record of a refused or aborted append',
  );
});

test('a failed case names the broken rule', async () => {
  proves('store:contract-holes');
  const backend: StoreUnderTest<JournalStore> = {
    make: ({ clock }) =>
      new Proxy(memoryStore({ clock }), {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (name !== 'append') return typeof value === 'function' ? (value.bind(target) as unknown) : value;
          // This faulty store treats the second of two drafts with one id as a repetition.
          return (...args: Parameters<typeof target.append>) =>
            target.append(...args).catch(() => target.append(args[0], args[1].slice(0, 1), args[2]));
        },
      }) as JournalStore,
    lacks: { 'survives-restart': 'memory', 'many-processes': 'memory', 'overwrites-erased': 'memory' },
  };
  const cases = casesOf('lenient', backend).filter(({ group, title }) => group === 'append' && /twice|JSON cannot/u.test(title));
  expect(Object.values(await failures(cases)).map((message) => message.split('\n', 1)[0])).toEqual([
    'broken rule: append rejects with bad_argument, in one line that names the type, if JSON cannot hold a draft',
    'broken rule: append rejects with bad_argument if its drafts queue one id twice',
  ]);
});

test('a wrong answer to a query names the query', async () => {
  proves('store:contract-holes');
  const backend: StoreUnderTest = {
    make: ({ clock }) => {
      const store = memoryStore({ clock });
      const items = store.items.bind(store);
      // The store omits the unread items that no conversation took.
      store.items = async (log, query, options) => {
        const found = await items(log, query, options);
        return query.kind === 'unread' && query.conversation !== undefined
          ? found.filter(({ takenBy }) => takenBy === query.conversation)
          : found;
      };
      return store;
    },
    lacks: { 'survives-restart': 'in memory', 'many-processes': 'in memory', 'overwrites-erased': 'in memory' },
  };
  const title = 'gives the same answers as a filter over the replayed log, after any appends';
  const failed = await failures(casesOf('without untaken', backend).filter((one) => one.title === title));
  expect(failed[title]).toMatch(/broken rule: items\(log, \{"kind":"unread","conversation":"\w+"\}\) gives the same answer as/u);
});
