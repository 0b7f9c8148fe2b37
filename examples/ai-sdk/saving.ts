// Saves the transcript after each step, and continues with the saved messages in a later run of the program.
import assert from 'node:assert/strict';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { streamText, type ModelMessage } from 'ai';
import { openEarpiece } from 'earpiece';
import { aiSdk } from 'earpiece/ai-sdk';
import { model } from './model.ts';

const file = 'transcript.json';

async function save(messages: readonly ModelMessage[]): Promise<void> {
  // A rename replaces the file in one step, so that a crash leaves the old or the new transcript, and never a part of one.
  await writeFile(`${file}.new`, JSON.stringify(messages));
  await rename(`${file}.new`, file);
}

async function load(): Promise<ModelMessage[]> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as ModelMessage[];
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

await using ear = await openEarpiece({ db: 'memory:' });
const coder = aiSdk(ear, 'coder');
const { id } = await ear.queue('coder', { kind: 'deploy.frozen', message: 'No deploys until Monday' });

const messages = await load();
messages.push({ role: 'user', content: 'Thanks.' });
await coder.run(streamText, { model, messages }, { keep: save });

const { receipt } = await ear.receipt(id);
console.log(`${(await load()).length} messages saved, the notification is ${receipt}`);
assert.equal(receipt, 'delivered');

// Output:
// 2 messages saved, the notification is delivered
