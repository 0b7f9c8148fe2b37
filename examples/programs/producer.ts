// Producers in separate processes: each queues a notification, waits until the model has received it, and ends with an exit code.
// One producer names an agent that never starts.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEarpiece } from 'earpiece';

const [, , db, to] = process.argv;
if (db !== undefined && to !== undefined) await producer(db, to);
else await agent();

/** The exit code is 0 if the model received the notification, and 3 after the time limit. */
async function producer(file: string, address: string): Promise<void> {
  await using ear = await openEarpiece({ db: file });
  const { id } = await ear.queue(address, { id: `build-${address}`, kind: 'build.done', message: 'The build is done' });
  const withinMs = address === 'nobody' ? 100 : 20_000;
  const { receipt } = await ear.receipt(id, { until: 'delivered', withinMs });
  process.exitCode = receipt === 'delivered' ? 0 : 3;
}

async function agent(): Promise<void> {
  using cleanup = new DisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'earpiece-'));
  cleanup.defer(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'earpiece.db');
  await using ear = await openEarpiece({ db: file });

  const ended = Promise.all(
    ['coder', 'nobody'].map(async (address) => {
      const child = spawn(process.execPath, [...process.execArgv, import.meta.filename, file, address], { stdio: 'inherit' });
      const [code] = (await once(child, 'close')) as [number];
      return `the producer for ${address} ended with ${code}`;
    }),
  );

  // The agent works, and its next tool result carries the notification.
  const types = ['system_notification_queued'] as const;
  for await (const _queued of ear.watch({ of: 'coder', types, after: 0, signal: AbortSignal.timeout(20_000) })) break;
  const { text } = await ear.conversation('coder').toolResult({ id: 'c1', content: 'src/cart.ts: 40 lines' });
  console.log(text);
  assert.match(text, /The build is done/u);
  for (const line of await ended) console.log(line);

  // A second call with the same id changes nothing, so retrying is safe.
  const retried = await ear.queue('coder', { id: 'build-coder', message: 'The build is done' });
  console.log(retried.kind);
}

// Output:
// src/cart.ts: 40 lines
//
// [ep k7f3] 1 notification, automatic, no human typed this; genuine only with this mark
// build info: The build is done
// [/ep k7f3]
// the producer for coder ended with 0
// the producer for nobody ended with 3
// duplicate
