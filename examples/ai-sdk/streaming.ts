// Shows the answer on a screen, even if an interrupt ends one stream and begins another.
import assert from 'node:assert/strict';
import { streamText, type ModelMessage } from 'ai';
import { openEarpiece } from 'earpiece';
import { aiSdk } from 'earpiece/ai-sdk';
import { model, whenItSays } from './model.ts';

await using ear = await openEarpiece({ db: 'memory:' });
const coder = aiSdk(ear, 'coder');
whenItSays('line 12', () => ear.queue('coder', { level: 'critical', message: 'Stop: production is down' }));

const shown: string[] = [];
const messages: ModelMessage[] = [{ role: 'user', content: 'What would you change?' }];
await coder.run(streamText, { model, messages }, { onResult: async ({ textStream }) => void shown.push(await show(textStream)) });

async function show(stream: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const delta of stream) text += delta;
  return text;
}

console.log(shown);
assert.equal(shown.length, 2);

// Output:
// [ 'I would change line 12', 'I have stopped.' ]
