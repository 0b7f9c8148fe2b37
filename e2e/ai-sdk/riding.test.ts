/** Tests notifications in the results of tools and in messages of the user: raw requests of AI SDK 6 and 7, with four APIs. */
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { find } from '../model/find.ts';
import { textsOf } from '../model/texts.ts';
import { proves } from '../verifies.ts';
import { BOTH, call, Desk, text } from './stage.ts';

describe.each(BOTH)('AI SDK %i, %s', (major, api) => {
  proves('ai-sdk:once');
  proves('ai-sdk:prefix');
  let desk: Desk;
  afterEach(() => desk[Symbol.asyncDispose]());

  it('the results of a batch carry each notification once, and so does a user message', async () => {
    desk = await Desk.start(major, api, [
      { says: [text('I look.'), call('call_1', 'build'), call('call_2', 'read'), call('call_3', 'list')] },
      { says: [call('call_4', 'read')] },
      { says: [text('It fails.')] },
      { says: [text('Done.')] },
    ]);
    const { sdk, ear } = desk;
    const tools = {
      build: sdk.tool({
        inputSchema: z.object({}),
        execute: async () => {
          await desk.queue('FIRST the build is red', { level: 'error' });
          return 'started';
        },
      }),
      read: sdk.tool({ inputSchema: z.object({}), execute: async () => ({ file: 'cart.ts', lines: [1, 2] }) }),
      list: sdk.tool({
        inputSchema: z.object({}),
        execute: async () => {
          await desk.queue('SECOND the disk fills', { level: 'warning' });
          return 'cart.ts';
        },
      }),
    };
    desk.ask('Why?');
    const first = await ear.run(sdk.streamText, desk.options(tools));
    expect(first).toMatchObject({ text: 'It fails.', how: 'complete', interrupts: 0 });
    expect(first.messages).toBe(desk.messages);
    await desk.queue('THIRD no deploys until Monday');
    desk.ask('Thanks.');
    await ear.run(sdk.streamText, desk.options(tools));

    expect(desk.requests).toHaveLength(4);
    desk.check(['FIRST', 'SECOND', 'THIRD']);
    desk.checkBytes();
    // The last result of the batch has the batch's only frame, after the tool's own text.
    expect(find(desk.requests, 'FIRST')).toMatchObject({ first: 1, places: [{ result: { no: 3 } }] });
    expect(find(desk.requests, 'SECOND')).toMatchObject({ first: 1, places: [{ result: { no: 3 } }] });
    expect(find(desk.requests, 'THIRD')).toMatchObject({ first: 3, places: [{ result: null, role: 'user' }] });
    expect(find(desk.requests, '[/ep ').inLast).toBe(2);
    expect(await desk.receipts()).toEqual({ FIRST: 'delivered', SECOND: 'delivered', THIRD: 'delivered' });
    // The caller's transcript contains the notification once.
    expect(JSON.stringify(desk.messages).split('FIRST')).toHaveLength(2);
  });

  it('a single failing tool carries notifications, and the program sees its own error', async () => {
    desk = await Desk.start(major, api, [{ says: [call('call_1', 'fails')] }, { says: [text('Done.')] }]);
    const { sdk, ear } = desk;
    class NoSuchFile extends Error {}
    const seen: unknown[] = [];
    const tools = {
      fails: sdk.tool({
        inputSchema: z.object({}),
        execute: async (): Promise<string> => {
          await desk.queue('FIRST the build is red');
          throw new NoSuchFile('cart.ts is gone');
        },
      }),
    };
    desk.ask('Why?');
    await ear.run(sdk.streamText, {
      ...desk.options(tools),
      onStepFinish: ({ content }) => void seen.push(...content.filter(({ type }) => type === 'tool-error')),
    });
    desk.check(['FIRST', 'cart.ts is gone']);
    desk.checkBytes();
    const { error } = seen[0] as { error: Error };
    expect(error).toBeInstanceOf(NoSuchFile);
    expect(error.message).toMatch(/^cart\.ts is gone\n\n\[ep /);
    expect(await desk.receipts()).toEqual({ FIRST: 'delivered' });
  });

  it('texts, objects and outputs of toModelOutput stay unchanged', async () => {
    const object = { rate: 1.5, list: ['a', 'b'], none: null };
    desk = await Desk.start(major, api, [
      { says: [call('call_1', 'says')] },
      { says: [call('call_2', 'gives')] },
      { says: [call('call_3', 'shows')] },
      { says: [text('Done.')] },
    ]);
    const { sdk, ear } = desk;
    const due = (name: string): Promise<unknown> => desk.queue(`${name} happened`);
    const tools = {
      says: sdk.tool({ inputSchema: z.object({}), execute: async () => (await due('FIRST'), 'said so') }),
      gives: sdk.tool({ inputSchema: z.object({}), execute: async () => (await due('SECOND'), object) }),
      shows: sdk.tool({
        inputSchema: z.object({}),
        execute: async () => (await due('THIRD'), 'page'),
        toModelOutput: ({ output }) => ({ type: 'content', value: [{ type: 'text', text: `this is ${output}` }] }),
      }),
    };
    const outputs: unknown[] = [];
    desk.ask('Go');
    await ear.run(sdk.streamText, {
      ...desk.options(tools),
      onStepFinish: ({ toolResults }) => void outputs.push(...toolResults.map(({ output }) => output)),
    });
    expect(outputs).toEqual(['said so', object, 'page']);
    desk.check(['FIRST', 'SECOND', 'THIRD']);
    desk.checkBytes();
    const read = textsOf(desk.requests.at(-1)!).filter(({ result }) => result);
    const said = read.map((each) => each.text).join('\n');
    for (const own of ['said so', JSON.stringify(object), 'this is page']) expect(said.replaceAll('\\"', '"')).toContain(own);
    if (api === 'anthropic' || api === 'openai-responses') {
      expect(read.map((each) => each.text.split('\n')[0]?.replace(/\[ep \w+\]/, '[ep]'))).toEqual([
        'said so',
        expect.stringContaining('[ep]'),
        JSON.stringify(object),
        expect.stringContaining('[ep]'),
        'this is page',
        expect.stringContaining('[ep]'),
      ]);
    }
  });
});
