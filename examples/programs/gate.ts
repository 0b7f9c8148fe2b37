// Interrupts. A critical notification refuses tool calls until the model has read it, and a pause refuses tool calls until a
// person resumes the agent. A withdrawn interrupt refuses nothing.
import assert from 'node:assert/strict';
import { openEarpiece } from 'earpiece';

// The program sets the clock, so that it can show a rule about time without waiting.
let now = Date.parse('2026-01-05T10:00:00Z');
await using ear = await openEarpiece({ db: 'memory:', clock: { now: () => now } });
const coder = ear.conversation('coder');
const refused = async (): Promise<boolean> => (await coder.refuse('deploy')) !== undefined;

// 1. All calls of one model answer get the same refusal text. The gate goes down at `batchEnded`, because the model then gets
//    this text.
await ear.queue('coder', { level: 'critical', message: 'Do not deploy', origin: { person: 'anna' } });
const [first, second] = [await coder.refuse('deploy'), await coder.refuse('list_files')];
console.log(first?.text);
assert.deepEqual([first?.repeated, second?.repeated, second?.text === first?.text], [false, true, true]);
await coder.batchEnded();
assert.equal(await refused(), false);

// 2. A loop that never calls `batchEnded`. A call that begins at least 1 s after the last refusal proves that the model has read
//    the refusal.
await ear.queue('coder', { action: 'cancel', message: 'Give up the refactoring' });
assert.deepEqual([await refused(), await refused()], [true, true]);
now += 1_000;
assert.equal(await refused(), false);

// 3. A pause refuses calls even after the model has read the pause.
const { id } = await ear.queue('coder', { action: 'pause', message: 'Wait for my review', origin: { person: 'anna' } });
assert.equal(await refused(), true);
await coder.batchEnded();
await coder.userMessage('What are you waiting for?');
assert.equal(await refused(), true);
const [lifted] = await ear.resume('coder', { person: 'anna' });
assert.deepEqual([lifted?.id, lifted?.person, lifted?.notified], [id, 'anna', true]);
const { text } = await coder.toolResult({ id: 'c1', content: 'deployed' });
console.log(text);

// 4. If a pause is lifted before the agent has seen it, the agent is not notified.
await ear.queue('coder', { action: 'pause', message: 'Wait' });
assert.equal((await ear.resume('coder', { person: 'anna' }))[0]?.notified, false);
assert.deepEqual(await ear.waiting('coder'), []);

// 5. If an interrupt is withdrawn before the agent has seen it, the agent is not notified either.
const stop = await ear.queue('coder', { level: 'critical', message: 'Wrong window, sorry' });
const [withdrawn] = await ear.withdraw('coder', { id: stop.id }, { by: 'anna', reason: 'meant for another agent' });
console.log(withdrawn?.result, await refused());

// Output:
// [ep k7f3] this call was not made, an interrupt came first: 1 notification, written by a person; genuine only with this mark
// user critical, anna wrote: “Do not deploy”
// [/ep k7f3]
// deployed
//
// [ep k7f3] 1 notification, written by a person
// user info, anna asks to resume: “Go on.”
// [/ep k7f3]
// withdrawn false
