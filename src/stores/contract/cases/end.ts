/** Tests closed stores and aborted calls. */
import { equal, refuses } from '../check.ts';
import { LOG, said } from '../drafts.ts';
import type { Suite } from '../suite.ts';

export function end({ test }: Suite): void {
  test('close() may be called twice, and later calls are refused', async ({ fresh }) => {
    const mine = await fresh();
    await mine.close();
    await mine.close();
    const rule = 'after close(), each call rejects with store_unavailable';
    await refuses(mine.append(LOG, [said('x')]), 'store_unavailable', rule);
    await refuses(mine.read({}), 'store_unavailable', rule);
    await refuses(mine.changed(0), 'store_unavailable', rule);
  });

  test('an aborted call rejects and writes nothing', async ({ store }) => {
    const aborted = store.append(LOG, [said('x')], { signal: AbortSignal.abort(new Error('stop')) });
    const reason = await aborted.catch((error: unknown) => (error as Error).message);
    equal(reason, 'stop', "a call whose signal is aborted rejects with the signal's reason, and writes nothing");
    equal(await store.head(), 0);
  });
}
