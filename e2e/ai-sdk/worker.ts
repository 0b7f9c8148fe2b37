/**
 * Runs an agent in a separate process, which a test kills. Its arguments are the major version, the model's URL, the database
 * and the transcript.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { ModelMessage } from 'ai';
import { z } from 'zod';
import { aiSdk } from '../../src/entries/ai-sdk.ts';
import { openEarpiece } from '../../src/index.ts';
import { armFaultsFromEnv } from '../../src/stores/fault-env.ts';
import { ADDRESS, modelOf, sdkOf, type Major } from './stage.ts';

const [major, url = '', db = '', file = ''] = process.argv.slice(2);
armFaultsFromEnv();
await using ear = await openEarpiece({ db });
const sdk = await sdkOf(Number(major) as Major);
const messages: ModelMessage[] = existsSync(file)
  ? (JSON.parse(readFileSync(file, 'utf8')) as ModelMessage[])
  : [{ role: 'user', content: 'Why?' }];
const read = sdk.tool({
  inputSchema: z.object({}),
  execute: async () => {
    await ear.queue(ADDRESS, { id: 'first', kind: 'ci.failed', message: 'FIRST the build is red' });
    return 'cart.ts';
  },
});
const { text } = await aiSdk(ear, ADDRESS).run(
  sdk.streamText,
  { model: await modelOf(Number(major) as Major, 'openai-chat', url), tools: { read }, messages, stopWhen: sdk.stepCountIs(5) },
  {
    keep: (all) => {
      writeFileSync(`${file}.new`, JSON.stringify(all));
      renameSync(`${file}.new`, file);
    },
  },
);
console.log(text);
