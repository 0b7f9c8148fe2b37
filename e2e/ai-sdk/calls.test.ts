/** Tests `generateText` and `ToolLoopAgent` of AI SDK 6 and 7, on a mock of the providers that also answers without a stream. */
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { aiSdk } from '../../src/ai-sdk/index.ts';
import { DEFAULT_POLICY } from '../../src/core/policy.ts';
import { Inbox } from '../../src/inbox/index.ts';
import { memoryStore } from '../../src/stores/index.ts';
import { startMock } from '../model/mock.ts';
import { startTap, type Tap } from '../model/tap.ts';
import { proves } from '../verifies.ts';
import { ADDRESS, call, Desk, MAJORS, sdkOf, text } from './stage.ts';

const APIS = ['openai-chat', 'openai-responses', 'anthropic'] as const;

describe.each(MAJORS.flatMap((major) => APIS.map((api) => [major, api] as const)))('AI SDK %i, %s', (major, api) => {
  proves('ai-sdk:once');
  proves('ai-sdk:prefix');
  let stack: AsyncDisposableStack;
  afterEach(() => stack.disposeAsync());

  /** Opens a desk on the mock, which awaits `onRequest` before it answers the n-th request. */
  async function deskOn(
    script: Parameters<typeof startMock>[0]['script'],
    onRequest?: (n: number) => Promise<void>,
  ): Promise<Desk> {
    stack = new AsyncDisposableStack();
    const mock = stack.use(await startMock({ script }));
    const tap: Tap = await startTap({
      upstream: mock.url,
      onRequest: async ({ n }) => {
        await onRequest?.(n);
        return undefined;
      },
    });
    return stack.use(await Desk.start(major, api, [], { server: tap }));
  }

  const SCRIPT = [{ calls: [{ name: 'build' }, { name: 'read' }] }, { text: 'It fails.' }, { text: 'Done.' }];

  const toolsOf = (desk: Desk) => ({
    build: desk.sdk.tool({
      inputSchema: z.object({}),
      execute: async () => {
        await desk.queue('FIRST the build is red');
        return 'started';
      },
    }),
    read: desk.sdk.tool({ inputSchema: z.object({}), execute: async () => 'cart.ts' }),
  });

  it('generateText gets each notification once', async () => {
    const desk = await deskOn(SCRIPT);
    desk.ask('Why?');
    expect(await desk.ear.run(desk.sdk.generateText, desk.options(toolsOf(desk)))).toMatchObject({ text: 'It fails.' });
    await desk.queue('SECOND no deploys until Monday');
    desk.ask('Thanks.');
    const { result, text: said } = await desk.ear.run(desk.sdk.generateText, desk.options(toolsOf(desk)));
    expect(said).toBe('Done.');
    expect(result?.steps).toHaveLength(1);
    desk.check(['FIRST', 'SECOND']);
    desk.checkBytes();
    expect(await desk.receipts()).toEqual({ FIRST: 'delivered', SECOND: 'delivered' });
  });

  it('if a critical notification aborts generateText, the finished steps are kept', async () => {
    proves('ai-sdk:interrupt');
    const again = Promise.withResolvers<void>();
    const desk: Desk = await deskOn(SCRIPT, async (n) => {
      if (n === 3) again.resolve();
      if (n !== 2) return;
      await desk.queue('STOP the disk is full', { level: 'critical' });
      await again.promise;
    });
    desk.ask('Why?');
    const turn = await desk.ear.run(desk.sdk.generateText, desk.options(toolsOf(desk)));
    expect(turn).toMatchObject({ text: 'It fails.', how: 'complete', interrupts: 1 });
    expect(desk.requests).toHaveLength(3);
    expect(desk.requests[1]).toMatchObject({ aborted: 'client' });
    desk.check(['FIRST', 'STOP']);
    // Anthropic's package puts a user's message into the message of the results before it, so the bytes of that message change.
    if (api !== 'anthropic') desk.checkBytes();
    expect(desk.shape).toEqual([
      'user: text',
      'assistant: tool-call tool-call',
      'tool: tool-result tool-result',
      'user: text',
      'assistant: text',
    ]);
  });

  it('a ToolLoopAgent gets each notification once', async () => {
    const desk = await deskOn(SCRIPT);
    const agent = new desk.sdk.ToolLoopAgent({ model: desk.model, tools: desk.ear.tools(toolsOf(desk)), maxRetries: 0 });
    desk.ask('Why?');
    const turn = await desk.ear.run(agent, { messages: desk.messages });
    expect(turn).toMatchObject({ text: 'It fails.' });
    await desk.queue('SECOND no deploys until Monday');
    desk.ask('Thanks.');
    expect(await desk.ear.run(agent, { messages: desk.messages })).toMatchObject({ text: 'Done.' });
    desk.check(['FIRST', 'SECOND']);
    desk.checkBytes();
    expect(await desk.receipts()).toEqual({ FIRST: 'delivered', SECOND: 'delivered' });
  });
});

it.each(MAJORS)('without a model, AI SDK %i fails with an error that names the missing option', async (major) => {
  const { generateText, streamText } = await sdkOf(major);
  await using inbox = new Inbox({ store: memoryStore(), policies: { policy: () => DEFAULT_POLICY } });
  const ear = aiSdk(inbox, ADDRESS);
  for (const sdkCall of [generateText, streamText])
    await expect(ear.run(sdkCall as never, { prompt: 'x' })).rejects.toMatchObject({
      code: 'bad_argument',
      message: "run: model must be a model of the AI SDK, got undefined; pass a model in the options, such as openai('gpt-5')",
    });
});

it.each(MAJORS)('AI SDK %i: a function that makes no messages is refused with the name of the right function', async (major) => {
  await using desk = await Desk.start(major, 'openai-chat', [{ says: [text('{"n":1}')] }]);
  const options = { model: desk.model, schema: z.object({ n: z.number() }), prompt: 'A number?' };
  await expect(desk.ear.run(desk.sdk.streamObject as never, options as never)).rejects.toMatchObject({
    code: 'bad_argument',
    message:
      'run: this function returns no messages; pass generateText, streamText or an agent of the AI SDK. For an object, pass generateText with output: Output.object({ schema })',
  });
});

describe('a conversation', () => {
  it('runs one turn at a time, and refuses a second turn', async () => {
    await using desk = await Desk.start(7, 'openai-chat', [{ says: [text('Well.')] }]);
    desk.ask('Hm?');
    const first = desk.ear.run(desk.sdk.streamText, desk.options({}));
    expect(() => desk.ear.run(desk.sdk.streamText, desk.options({}))).toThrow(/shop\/coder#main is running/);
    await first;
    desk.ask('Hm?');
    expect(await desk.ear.run(desk.sdk.streamText, desk.options({}))).toMatchObject({ text: 'Well.' });
  });

  it('rejects with the error of the provider, and keeps the steps before it', async () => {
    proves('ai-sdk:receipts');
    await using desk = await Desk.start(7, 'openai-chat', [
      { says: [call('call_1', 'read')] },
      { refuses: { status: 400, body: { error: { message: 'too long' } } } },
      { says: [text('Well.')] },
    ]);
    const tools = {
      read: desk.sdk.tool({
        inputSchema: z.object({}),
        execute: async () => {
          await desk.queue('FIRST the build is red');
          return 'cart.ts';
        },
      }),
    };
    desk.ask('Why?');
    const options = { ...desk.options(tools), onError: () => {} };
    await expect(desk.ear.run(desk.sdk.streamText, options)).rejects.toThrow('too long');
    expect(desk.shape).toEqual(['user: text', 'assistant: tool-call', 'tool: tool-result']);
    expect(await desk.ear.run(desk.sdk.streamText, options)).toMatchObject({ text: 'Well.' });
    desk.check(['FIRST']);
  });

  it('does not change a message that was sent, if the caller tries again after an error', async () => {
    proves('ai-sdk:prefix');
    await using desk = await Desk.start(7, 'openai-chat', [
      { refuses: { status: 400, body: { error: { message: 'too busy' } } } },
      { says: [text('Well.')] },
    ]);
    desk.ask('Why?');
    const options = { ...desk.options({}), onError: () => {} };
    await expect(desk.ear.run(desk.sdk.streamText, options)).rejects.toThrow('too busy');
    await desk.queue('FIRST the build is red');
    await desk.ear.run(desk.sdk.streamText, options);
    expect(desk.shape).toEqual(['user: text', 'user: text', 'assistant: text']);
    desk.check(['FIRST']);
    desk.checkBytes();
  });

  it('messages count as delivered when the caller has kept them, and not before', async () => {
    proves('ai-sdk:receipts');
    await using desk = await Desk.start(7, 'openai-chat', [{ says: [call('call_1', 'read')] }, { says: [text('Well.')] }]);
    const seen: unknown[] = [];
    const tools = {
      read: desk.sdk.tool({
        inputSchema: z.object({}),
        execute: async () => {
          await desk.queue('FIRST the build is red');
          return 'cart.ts';
        },
      }),
    };
    desk.ask('Why?');
    await desk.ear.run(desk.sdk.streamText, desk.options(tools), {
      keep: async (messages) => void seen.push([messages.length, await desk.receipts()]),
    });
    expect(seen).toEqual([
      [3, { FIRST: 'offered' }],
      [4, { FIRST: 'delivered' }],
    ]);
  });

  it('rejects with the error of a failed save; its notifications count as delivered when the caller continues', async () => {
    proves('ai-sdk:receipts');
    await using desk = await Desk.start(7, 'openai-chat', [{ says: [call('call_1', 'read')] }, { says: [text('Well.')] }]);
    const tools = {
      read: desk.sdk.tool({
        inputSchema: z.object({}),
        execute: async () => {
          await desk.queue('FIRST the build is red');
          return 'cart.ts';
        },
      }),
    };
    desk.ask('Why?');
    const full = (): never => {
      throw new Error('no space left');
    };
    const options = { ...desk.options(tools), onError: () => {} };
    await expect(desk.ear.run(desk.sdk.streamText, options, { keep: full })).rejects.toThrow('no space left');
    expect(await desk.receipts()).toEqual({ FIRST: 'offered' });
    await desk.ear.run(desk.sdk.streamText, options);
    expect(await desk.receipts()).toEqual({ FIRST: 'delivered' });
    desk.check(['FIRST']);
  });

  it("a notification with the user's message is delivered again if the save failed and the caller begins with its old messages", async () => {
    proves('ai-sdk:receipts');
    await using desk = await Desk.start(7, 'openai-chat', [{ says: [text('Well.')] }]);
    await desk.queue('FIRST the build is red');
    const full = (): never => {
      throw new Error('no space left');
    };
    desk.ask('Why?');
    const saved = [...desk.messages];
    await expect(desk.ear.run(desk.sdk.streamText, desk.options({}), { keep: full })).rejects.toThrow('no space left');
    expect(await desk.receipts()).toEqual({ FIRST: 'offered' });
    // The caller reads its saved messages, which lack the notification.
    desk.messages.splice(0, desk.messages.length, ...saved);
    await desk.ear.run(desk.sdk.streamText, desk.options({}));
    expect(await desk.receipts()).toEqual({ FIRST: 'delivered' });
    desk.check(['FIRST']);
  });

  it('an interrupt is in the messages once if its save failed and the caller continues with the same messages', async () => {
    proves('ai-sdk:receipts');
    await using desk = await Desk.start(7, 'openai-chat', [
      { before: async () => desk.queue('STOP the disk is full', { level: 'critical' }), says: [text('Well.')] },
      { says: [text('I have stopped.')] },
    ]);
    const full = (messages: readonly unknown[]): void => {
      if (JSON.stringify(messages).includes('STOP')) throw new Error('no space left');
    };
    desk.ask('Why?');
    const options = { ...desk.options({}), onError: () => {} };
    await expect(desk.ear.run(desk.sdk.streamText, options, { keep: full })).rejects.toThrow('no space left');
    expect(await desk.receipts()).toEqual({ STOP: 'offered' });
    await desk.ear.run(desk.sdk.streamText, options);
    expect(await desk.receipts()).toMatchObject({ STOP: expect.stringMatching(/^(?:delivered|read)$/u) as string });
    expect(JSON.stringify(desk.messages).split('STOP')).toHaveLength(2);
  });
});
