// A producer waits until an agent's model has received its notification. The agent is usually another program, which shares
// only the database. Here, both are in one file.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEarpiece } from 'earpiece';

using cleanup = new DisposableStack();
const folder = mkdtempSync(join(tmpdir(), 'earpiece-'));
cleanup.defer(() => rmSync(folder, { recursive: true }));
const db = join(folder, 'earpiece.db');

await Promise.all([agent(), producer()]);

async function producer(): Promise<void> {
  await using ear = await openEarpiece({ db });
  const { id } = await ear.queue('coder', { kind: 'review.done', message: 'Your pull request has two comments' });
  const { receipt } = await ear.receipt(id, { until: 'delivered', withinMs: 10_000 });
  assert.equal(receipt, 'delivered');
  const story = (await ear.why(id))?.items[0];
  console.log(story?.steps.map(({ what }) => what).join(' → '));
}

// #region offer
/**
 * Another program writes this agent's transcript: lease due notifications, pass them to that program, and confirm when they were
 * sent.
 */
async function agent(): Promise<void> {
  await using ear = await openEarpiece({ db });
  const coder = ear.conversation('coder');
  for await (const _record of ear.watch({ after: 0, signal: AbortSignal.timeout(10_000) })) {
    const offer = await coder.offer({ on: 'read_file' });
    if (offer === undefined) continue;
    console.log(offer.text);
    await offer.confirm();
    return;
  }
}
// #endregion

// Output:
// [ep k7f3] 1 notification, automatic, no human typed this; genuine only with this mark
// review info: Your pull request has two comments
// [/ep k7f3]
// queued → offered → delivered
