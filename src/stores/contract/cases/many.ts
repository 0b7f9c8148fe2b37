/** Tests many producers, carriers and readers at once. */
import assert from 'node:assert/strict';
import type { Store } from '../../../core/ports.ts';
import { equal } from '../check.ts';
import { LOG, offered, queued, result } from '../drafts.ts';
import { idsOf, type Suite } from '../suite.ts';

export function many({ test }: Suite): void {
  test('lets a carrier succeed within 200 ms and at its first try, while two producers write without pause', async ({
    store,
    producers,
  }) => {
    const running = await producers(2);
    // Three of four appends must be fast in the best of three rounds. Other programs on the machine may slow down single appends.
    const slowest = async (): Promise<number> => {
      const took: number[] = [];
      for (let i = 0; i < 20; i++) {
        await waitFor(store, async () => (await store.countOpen(LOG)) > 0);
        const started = performance.now();
        const open = await store.items(LOG, { kind: 'open', limit: 10 });
        equal((await store.append(LOG, [result(idsOf(open))])).kind, 'appended');
        took.push(performance.now() - started);
      }
      return took.sort((a, b) => a - b)[14] as number;
    };
    let best = await slowest();
    for (let left = 2; left > 0 && best >= 200; left--) best = Math.min(best, await slowest());
    assert.ok(best < 200, `an append took ${Math.round(best)} ms`);
    const acknowledged = await running.stop();
    assert.ok(acknowledged.length > 20, `only ${acknowledged.length} were stored`);
    const stored = new Set(await everyId(store));
    equal(
      acknowledged.filter((id) => !stored.has(id)),
      [],
    );
  });

  test('gives a reader of new records every record', async ({ store, producers }) => {
    const running = await producers(2);
    const seen: number[] = [];
    let after = 0;
    const tail = async (): Promise<void> => {
      for (const record of await store.read({ log: LOG, after })) {
        seen.push(record.seq);
        after = record.seq;
      }
    };
    const started = performance.now();
    while (seen.length < 300) {
      assert.ok(performance.now() - started < PATIENCE_MS, `${seen.length} of 300 records reached the reader in a minute`);
      await tail();
      await store.changed(after, { withinMs: 1000 });
    }
    await running.stop();
    while (after < (await store.head())) await tail();
    equal(
      seen,
      (await store.read({ log: LOG, limit: 1_000_000 })).map((record) => record.seq),
    );
    equal(
      seen,
      [...seen].sort((a, b) => a - b),
    );
  });

  test('gives each notification to one of several carriers', async ({ store, append }) => {
    await append(...Array.from({ length: 30 }, (_, i) => queued(`n${i}`)));
    const won = await Promise.all(
      Array.from({ length: 90 }, async (_, i) => {
        const id = `n${i % 30}`;
        const appended = await store.append(LOG, [i % 2 === 0 ? offered(`c${i}`, [id]) : result([id])]);
        return appended.kind === 'appended' ? [id] : [];
      }),
    );
    equal(won.flat().sort(), Array.from({ length: 30 }, (_, i) => `n${i}`).sort());
  });
}

/** The longest wait of these tests, in ms. A longer wait means that the store has lost a record. */
const PATIENCE_MS = 60_000;

async function waitFor(store: Store, condition: () => Promise<boolean>): Promise<void> {
  const started = performance.now();
  while (!(await condition())) {
    assert.ok(performance.now() - started < PATIENCE_MS, 'no open notification for a minute, while two producers queue');
    await store.changed(await store.head(), { withinMs: 1000 });
  }
}

async function everyId(store: Store): Promise<string[]> {
  return (await store.read({ types: ['system_notification_queued'], limit: 1_000_000 })).map(
    (record) => (record.body as { id: string }).id,
  );
}
