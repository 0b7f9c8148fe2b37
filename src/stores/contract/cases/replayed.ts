/** Tests that the index has the same items as a replay of the log. */
import { type Item, replay } from '../../../core/items.ts';
import type { Store } from '../../../core/ports.ts';
import { equal, matches } from '../check.ts';
import { extended, folded, LOG, OTHER, queued } from '../drafts.ts';
import { fastCheck } from '../fast-check.ts';
import { type Step, stepsOf } from '../random-drafts.ts';
import { expectedAppend, expectIndexEqualsReplay } from '../reference.ts';
import type { Stage, Suite } from '../suite.ts';

/**
 * The index is checked once in this many steps. A check requests about thirty lists, which takes a long time if the database runs
 * in another process.
 */
const CHECK_EVERY = 5;

export function replayed({ test }: Suite): void {
  test('gives the same answers as a filter over the replayed log, after any appends', async ({ fresh, clock }) => {
    const fc = await fastCheck();
    await fc.assert(
      fc.asyncProperty(stepsOf(fc, { prune: false }), async (all) => {
        const mine = await fresh();
        for (const [n, step] of all.entries()) {
          await run(mine, clock, step);
          if (n % CHECK_EVERY === 0) await expectIndexEqualsReplay(mine, LOG);
        }
        await expectIndexEqualsReplay(mine, LOG);
        await expectIndexEqualsReplay(mine, OTHER);
        equal(await mine.verify(), []);
        await mine.close();
      }),
      { numRuns: 40 },
    );
  });

  test('equals a replay of every prefix of the log', async ({ fresh, clock }) => {
    const fc = await fastCheck();
    await fc.assert(
      fc.asyncProperty(stepsOf(fc, { prune: false }), async (all) => {
        const mine = await fresh();
        const snapshots: [number, unknown][] = [];
        for (const step of all) {
          await run(mine, clock, step);
          const known = await mine.items(LOG, { kind: 'latest', limit: 1000 });
          snapshots.push([await mine.head(), byKey(known)]);
        }
        const records = await mine.read({ log: LOG, limit: 1000 });
        for (const [head, known] of snapshots)
          equal(byKey([...replay(records.filter((record) => record.seq <= head)).values()]), known);
        await mine.close();
      }),
      { numRuns: 20 },
    );
  });

  test('equals a replay if a notification is folded into a notification of two conversations', async ({ store, append }) => {
    await append(queued('n1', { conversation: 'y' }));
    await append(extended(['n1'], 'x'));
    await append(folded('n7', 'n1', { differs: { message: 'of n7' } }));
    await expectIndexEqualsReplay(store, LOG);
  });

  test('equals a replay of the remaining records after old records were pruned', async ({ fresh, clock }) => {
    const fc = await fastCheck();
    await fc.assert(
      fc.asyncProperty(stepsOf(fc, { prune: true }), async (all) => {
        const mine = await fresh();
        for (const step of all) {
          await run(mine, clock, step);
          if (step.kind === 'prune') {
            equal(await mine.verify(), []);
            await expectIndexEqualsReplay(mine, LOG);
          }
        }
        equal(await mine.verify(), []);
        await mine.close();
      }),
      { numRuns: 60 },
    );
  });
}

async function run(mine: Store, clock: Stage['clock'], step: Step): Promise<void> {
  clock.time = Math.max(1, clock.time + step.tick);
  if (step.kind === 'prune') {
    await mine.prune(clock.time - step.keepMs);
    return;
  }
  const expected = await expectedAppend(mine, step.log, step.drafts);
  const appended = await mine.append(step.log, step.drafts);
  switch (expected.kind) {
    case 'settled':
      equal(appended.kind, 'appended');
      if (appended.kind === 'appended') equal(byKey(appended.items), byKey(expected.items));
      return;
    case 'duplicate':
      matches(appended, expected);
      return;
    case 'conflict':
      equal(appended.kind === 'conflict' ? byId(appended) : appended, byId(expected));
  }
}

/** Sorts the notifications of a conflict by id, because their order is not defined. */
const byId = <T extends { readonly ids: readonly { readonly id: string }[] }>(conflict: T): T => ({
  ...conflict,
  ids: conflict.ids.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
});

const byKey = (items: readonly Item[]): readonly Item[] =>
  items.toSorted((a, b) => a.seq - b.seq || (a.audience < b.audience ? -1 : 1));
