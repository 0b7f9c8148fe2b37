// How far did it get? A producer follows its notification until the agent's model was given it. The two of them are
// programs of their own that share nothing but the log; here both are in one file.
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
  const { id } = await ear.queue('shop/coder', { kind: 'review.done', message: 'Your pull request has two comments' });
  for await (const _record of ear.watch({ project: 'shop', after: 0, signal: AbortSignal.timeout(10_000) })) {
    const story = (await ear.why(id))?.items[0];
    if (story?.receipt !== 'delivered') continue;
    console.log(story.steps.map(({ what }) => what).join(' → '));
    return;
  }
  assert.fail(`${id} was not delivered within 10 s`);
}

/** A program that does not own the transcript: it leases what is due, hands it over, and confirms when the bytes are out. */
async function agent(): Promise<void> {
  await using ear = await openEarpiece({ db });
  const coder = ear.conversation('shop/coder');
  for await (const _record of ear.watch({ project: 'shop', after: 0, signal: AbortSignal.timeout(10_000) })) {
    const offer = await coder.offer({ at: 'tool_result', on: 'read_file' });
    if (offer === undefined) continue;
    console.log(offer.view.text);
    await offer.confirm();
    return;
  }
}

// Output:
// [ep k7f3] 1 notification, automatic, no human typed this; genuine only with this mark
// review info: Your pull request has two comments
// [/ep k7f3]
// queued → offered → delivered
