import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAgent } from '../entries/agent.ts';
import { aiSdk } from '../entries/ai-sdk.ts';
import { openEarpiece, type Earpiece } from './index.ts';

let ear: Earpiece;
beforeAll(async () => {
  ear = await openEarpiece({ db: 'memory:', cwd: '/', env: { HOME: '/nowhere' } });
});
afterAll(async () => ear.close());

/** As JavaScript would call it. */
const any = (value: unknown): never => value as never;
const call = async (): Promise<string> => 'x';

it.each<readonly [string, () => unknown, string]>([
  [
    'a misspelt option of a run',
    () => aiSdk(ear, 'coder').run(call, {}, any({ kep: call })),
    'run: "kep" is not a known key; did you mean "keep"?',
  ],
  ['no function to run', () => aiSdk(ear, 'coder').run(any(undefined), {}), 'run: pass generateText, streamText or an agent'],
  ['no options of a run', () => aiSdk(ear, 'coder').run(call, any(undefined)), 'run: options is missing; pass an object'],
  ['no tools', () => aiSdk(ear, 'coder').tools(any(null)), 'tools: tools must be an object, got null'],
  [
    'the name of a model in place of a model',
    () => createAgent({ earpiece: ear, address: 'coder', model: any('gpt') }),
    'the agent needs a model of AI SDK 7 (version v4), got the text "gpt"; use openModel(',
  ],
  [
    'a model of AI SDK 6',
    () => createAgent({ earpiece: ear, address: 'coder', model: any({ specificationVersion: 'v3', provider: 'openai' }) }),
    'the agent needs a model of AI SDK 7 (version v4), got a model of version v3',
  ],
])('%s is refused', async (_, misuse, message) => {
  await expect((async () => misuse())()).rejects.toMatchObject({
    code: 'bad_argument',
    message: expect.stringContaining(message) as string,
  });
});
