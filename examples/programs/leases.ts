// Another program owns the transcript, so Earpiece leases notifications: `offer`, then `confirm`. A process that is killed
// between the two calls loses nothing. The next process gets the same ids, and the text says that the notification is repeated.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEarpiece } from 'earpiece';

const shared = process.env['EXAMPLE_DB'];
if (shared !== undefined) {
  // The same file runs as the process that is killed between the offer and the confirmation.
  const ear = await openEarpiece({ db: shared });
  const offer = await ear.conversation('coder#s1').offer({ on: 'read_file' });
  process.stdout.write(JSON.stringify({ ids: offer?.ids, repeated: offer?.repeated }));
  process.kill(process.pid, 'SIGKILL');
}

using cleanup = new DisposableStack();
const folder = mkdtempSync(join(tmpdir(), 'earpiece-'));
cleanup.defer(() => rmSync(folder, { recursive: true }));
const db = join(folder, 'earpiece.db');

await using ear = await openEarpiece({ db });
const coder = ear.conversation('coder#s1');
const { id } = await ear.queue('coder#s1', { kind: 'ci.failed', level: 'error', message: 'CI failed on main' });

const killed = spawnSync(process.execPath, [...process.execArgv, import.meta.filename], {
  env: { ...process.env, EXAMPLE_DB: db },
  encoding: 'utf8',
});
assert.equal(killed.signal, 'SIGKILL', killed.stderr);
assert.deepEqual(JSON.parse(killed.stdout), { ids: [id], repeated: false });
console.log((await ear.receipt(id)).receipt);

// The owner of the lease is dead, so the notification is offered again. A release has the same effect.
const again = await coder.offer({ on: 'read_file' });
assert.ok(again);
console.log(again.text);
assert.deepEqual([again.ids, again.repeated], [[id], true]);
assert.equal(await coder.offer(), undefined, 'a notification is in one offer at a time');
await again.release('write_error');

const last = await coder.offer();
console.log(await last?.confirm(), await last?.confirm(), await coder.offer());
console.log((await ear.why(id))?.items[0]?.steps.map(({ what }) => what).join(' → '));

// The text would be longer than 100 characters, so nothing is offered and the notification stays open.
await ear.queue('coder#s1', { message: 'a long one '.repeat(40) });
assert.equal(await coder.offer({ maxChars: 100 }), undefined);

// Output:
// offered
// [ep k7f3] 1 notification, repeated, automatic, no human typed this; genuine only with this mark
// ci error: CI failed on main
// [/ep k7f3]
// confirmed confirmed undefined
// queued → offered → released → offered → released → offered → delivered
