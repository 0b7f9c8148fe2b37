/** Tests a log's time, and the clocks of its writers. */
import assert from 'node:assert/strict';
import { equal, matches } from '../check.ts';
import { LOG, offered, queued, said } from '../drafts.ts';
import type { Suite } from '../suite.ts';

export function time({ test, testWhere }: Suite): void {
  test('never runs backwards within a log, even if the clock runs backwards', async ({ store, append, clock }) => {
    for (const now of [5_000_000, 4_000_000, 4_500_000, 6_000_000]) {
      clock.time = now;
      await append(said(String(now)));
      const newest = (await store.read({ newestFirst: true, limit: 1 }))[0]?.at ?? 0;
      assert.ok(store.ordered() >= newest, `ordered() is ${store.ordered()}, but the newest record has the time ${newest}`);
      equal(store.now(), now);
    }
    equal(
      (await store.read({ log: LOG })).map((record) => record.at),
      [5_000_000, 5_000_000, 5_000_000, 6_000_000],
      'the `at` of a record is the later of now() and the newest `at` in the store',
    );
  });

  const DAY = 86_400_000;
  test("keeps the time of the writer's own clock if that clock is behind the log", async ({ store, append, item, clock }) => {
    clock.time = 2 * DAY;
    await append(queued('ahead'));
    clock.time = DAY;
    await append(queued('behind'));
    clock.time = 2 * DAY - 1_000;
    await append(queued('near'));
    const records = await store.read({ log: LOG });
    equal(
      records.map(({ at, clock }) => [at, clock]),
      [
        [2 * DAY, undefined],
        [2 * DAY, DAY],
        [2 * DAY, undefined],
      ],
      "a record keeps the writer's clock only if it is at least 60 s behind `at`: clockBeside(at, now)",
    );
    equal((await item('behind')).clock, DAY);
    await append(said('x'), offered('c1', ['behind']));
    equal((await item('behind')).clock, DAY);
    equal(await store.verify(), []);
  });

  testWhere('survives-restart', 'the clock continues in a store that is opened later', async ({ append, also, clock }) => {
    await append(said('x'));
    clock.time = 5;
    const other = await also();
    equal([other.now(), other.ordered()], [5, 1_000_000]);
    matches(await other.append(LOG, [said('y')]), { records: [{ at: 1_000_000 }] });
  });
}
