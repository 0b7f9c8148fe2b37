// Events: your program reports an event, and subscribers decide whether an event becomes a notification, and make its text. Here,
// the shipped subscriber `alert` listens to these events. If a problem ends before the agent has read its notification, the
// notification is withdrawn.
import assert from 'node:assert/strict';
import { openEarpiece } from 'earpiece';

await using ear = await openEarpiece({ db: 'memory:' });

async function alert(type: 'alert.firing' | 'alert.resolved', fingerprint: string, summary: string): Promise<void> {
  const { heard } = await ear.events.emit({
    type,
    source: 'monitor',
    subject: 'coder',
    severity: type === 'alert.firing' ? 'error' : 'info',
    data: { alertname: 'Latency', fingerprint, summary },
  });
  for (const { subscriber, kind } of heard) console.log(`${subscriber} ${kind}`);
}

await alert('alert.firing', 'eu', 'p99 is 2.4 s in eu');
await alert('alert.firing', 'us', 'p99 is 3.1 s in us');
await alert('alert.resolved', 'us', 'p99 is 0.2 s in us');

// Preview the next tool result. Nothing changes.
const { text } = await ear.conversation('coder').preview();
console.log(text);
assert.ok(text?.includes('in eu') && !text.includes('3.1 s'));

// Output:
// alert queued
// alert queued
// alert withdrew
// alert queued
// [ep k7f3] 2 notifications, automatic, no human typed this; genuine only with this mark
// alert error: alert_firing: Latency - p99 is 2.4 s in eu
// alert info: alert_resolved: Latency - p99 is 0.2 s in us
// [/ep k7f3]
