// A new subscriber: a TOML file and a template in the user's folder, which needs no trust. The subscriber counts the events of
// each host. An event that reports the end of the problem withdraws the unread notification.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEarpiece } from 'earpiece';

using cleanup = new DisposableStack();
const home = mkdtempSync(join(tmpdir(), 'earpiece-'));
cleanup.defer(() => rmSync(home, { recursive: true }));
const folder = join(home, 'config/earpiece/subscribers');
mkdirSync(folder, { recursive: true });
writeFileSync(
  join(folder, 'disk.toml'),
  `[subscriber]
id = "disk"
name = "Disks"

[events]
types = ["disk.full"]

[batching]
dedupe_key = "payload.host"

[condition]
expression = "payload.used > 90"

[output]
priority = "high"
template = "disk.toon.j2"

[withdraw]
types = ["disk.free"]
`,
);
writeFileSync(
  join(folder, 'disk.toon.j2'),
  `disks full: {% for event in events %}{{ event.payload.host }} {{ event.payload.used }}%{{ " (" ~ event.count ~ " times)" if event.count > 1 }}{{ ", " if not loop.last }}{% endfor %}`,
);

// `onProblem` reports invalid files. Without this option, invalid files are ignored silently.
const problems: string[] = [];
const env = { HOME: home, XDG_CONFIG_HOME: join(home, 'config') };
await using ear = await openEarpiece({ db: 'memory:', cwd: home, env, onProblem: (line) => void problems.push(line) });
assert.deepEqual(problems, []);

async function emit(type: string, host: string, used: number): Promise<void> {
  const { heard } = await ear.events.emit({ type, source: 'df', subject: 'coder', severity: 'error', data: { host, used } });
  for (const one of heard) console.log(`${type} ${host}: ${one.kind}${one.kind === 'skipped' ? `, ${one.because}` : ''}`);
}
await emit('disk.full', 'web', 95);
await emit('disk.full', 'web', 95);
await emit('disk.full', 'db', 97);
await emit('disk.full', 'mail', 20);
await emit('disk.free', 'db', 40);

const { text } = await ear.conversation('coder').toolResult({ id: 'c1', content: 'ok' });
console.log(text);

// Output:
// disk.full web: queued
// disk.full web: folded
// disk.full db: queued
// disk.full mail: skipped, the condition is not true: payload.used > 90
// disk.free db: withdrew
// ok
//
// [ep k7f3] 1 notification, automatic, no human typed this; genuine only with this mark
// disk error: disks full: web 95% (2 times)
// [/ep k7f3]
