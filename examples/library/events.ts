// Events: a program says what happened, and the files of subscribers decide who is told, and in which words. What is over
// before anybody has read it is taken back.
import assert from 'node:assert/strict';
import { openEarpiece } from 'earpiece';

await using ear = await openEarpiece({ db: 'memory:' });
// A loop that carries on the results of tools alone says so: what wants another moment then rides there too.
const coder = ear.conversation('shop/coder', { points: ['tool_result'] });

/** What the shipped subscriber `alert` hears. Yours are in `.earpiece/subscribers/`, and count from the next event on. */
async function alert(type: 'alert.firing' | 'alert.resolved', fingerprint: string, summary: string): Promise<void> {
  const { heard } = await ear.bus.emit({
    type,
    source: 'monitor',
    subject: 'shop/coder',
    severity: type === 'alert.firing' ? 'error' : 'info',
    data: { alertname: 'Latency', fingerprint, summary },
  });
  for (const { subscriber, kind } of heard) console.log(`${subscriber} ${kind}`);
}

await alert('alert.firing', 'eu', 'p99 is 2.4 s in eu');
await alert('alert.firing', 'us', 'p99 is 3.1 s in us');
await alert('alert.resolved', 'us', 'p99 is 0.2 s in us');

const { view } = await coder.preview({ at: 'tool_result' });
console.log(view?.text);
assert.ok(view?.text.includes('in eu') && !view.text.includes('3.1 s'));

// Output:
// alert queued
// alert queued
// alert withdrew
// alert queued
// [ep k7f3] 2 notifications, automatic, no human typed this; genuine only with this mark
// alert error: alert_firing: Latency - p99 is 2.4 s in eu
// alert info: alert_resolved: Latency - p99 is 0.2 s in us
// [/ep k7f3]
