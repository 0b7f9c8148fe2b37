/** Tests interrupts while a model answers or tools run: AI SDK 6 and 7, with four APIs. */
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { find } from '../model/find.ts';
import { proves } from '../verifies.ts';
import { BOTH, call, Desk, MAJORS, text, type Request } from './stage.ts';

describe.each(BOTH)('AI SDK %i, %s', (major, api) => {
  let desk: Desk;
  afterEach(() => desk[Symbol.asyncDispose]());
  const critical = async (message: string, more = {}): Promise<void> => desk.queue(message, { level: 'critical', ...more });

  describe('a critical notification while the model answers', () => {
    proves('ai-sdk:interrupt');

    it('keeps the finished steps and the partial text, and continues the turn with the notification', async () => {
      const cut = async ({ cutOff }: Request): Promise<void> => {
        await heard('grows as ');
        await critical('STOP the disk is full');
        await cutOff;
      };
      desk = await Desk.start(major, api, [
        { says: [call('call_1', 'read')] },
        { says: [text('it grows as I watch and watch')], at: [{ part: 0, delta: 3, do: cut }] },
        { says: [call('call_2', 'read')] },
        { says: [text('I have stopped.')] },
        { says: [text('Done.')] },
      ]);
      const { sdk, ear } = desk;
      const { heard, listen } = listening();
      const tools = { read: sdk.tool({ inputSchema: z.object({}), execute: async () => 'cart.ts' }) };
      desk.ask('Watch it.');
      const turn = await ear.run(sdk.streamText, { ...desk.options(tools), onError: () => {} }, { onResult: listen });
      expect(turn).toMatchObject({ text: 'I have stopped.', how: 'complete', interrupts: 1 });
      expect(desk.shape).toEqual([
        'user: text',
        'assistant: tool-call',
        'tool: tool-result',
        'assistant: text',
        'user: text',
        'assistant: tool-call',
        'tool: tool-result',
        'assistant: text',
      ]);
      expect(JSON.stringify(desk.messages[3])).toContain('it grows as');
      desk.ask('Thanks.');
      await ear.run(sdk.streamText, desk.options(tools));
      expect(desk.requests[1]).toMatchObject({ aborted: 'client' });
      expect(desk.requests).toHaveLength(5);
      desk.check(['STOP', 'it grows as']);
      desk.checkBytes();
      expect(await desk.receipts()).toEqual({ STOP: 'read' });
    });

    const beforeFirstWord = [
      {
        before: async ({ cutOff }: Request) => {
          await critical('STOP the disk is full');
          await cutOff;
        },
      },
      { says: [text('I have stopped.')] },
    ];
    // Gemini refuses two user messages in a row.
    const after = api === 'gemini' ? ['user: text text'] : ['user: text', 'user: text'];

    it('an abort before the first word leaves no empty message, and does not change the message that was sent', async () => {
      proves('ai-sdk:prefix');
      desk = await Desk.start(major, api, beforeFirstWord);
      desk.ask('Watch it.');
      await desk.ear.run(desk.sdk.streamText, { ...desk.options({}), onError: () => {} });
      expect(desk.shape).toEqual([...after, 'assistant: text']);
      desk.check(['STOP']);
      if (api === 'openai-chat' || api === 'openai-responses') desk.checkBytes();
    });

    it('an abort before the first word of an agent does the same', async () => {
      desk = await Desk.start(major, api, beforeFirstWord);
      const agent = new desk.sdk.ToolLoopAgent({ model: desk.model, maxRetries: 0 });
      desk.ask('Watch it.');
      await desk.ear.run(agent, { messages: desk.messages });
      expect(desk.shape).toEqual([...after, 'assistant: text']);
      desk.check(['STOP']);
    });
  });

  describe('the gate', () => {
    proves('ai-sdk:gate');

    it('refuses one batch, and goes down by itself before the next step', async () => {
      const ran: string[] = [];
      desk = await Desk.start(major, api, [
        {
          before: async ({ cutOff }) => {
            await critical('STOP the disk is full');
            await cutOff;
          },
        },
        // The model has not answered the first interrupt yet, so the second interrupt does not abort the answer.
        {
          says: [call('call_1', 'write'), call('call_2', 'write'), call('call_3', 'write')],
          before: () => critical('AGAIN the disk is full'),
        },
        { says: [call('call_4', 'write')] },
        { says: [text('Done.')] },
      ]);
      const { sdk, ear } = desk;
      const write = sdk.tool({
        inputSchema: z.object({}),
        execute: async (_input, { toolCallId }) => {
          ran.push(toolCallId);
          return 'written';
        },
      });
      desk.ask('Write it.');
      await ear.run(sdk.streamText, { ...desk.options({ write }), onError: () => {} });
      expect(ran).toHaveLength(1);
      expect(desk.requests).toHaveLength(4);
      desk.check(['STOP']);
      expect(find(desk.requests, 'AGAIN')).toMatchObject({ first: 2, counts: [0, 0, 3, 3] });
      expect(await ear.conversation.gate()).toEqual([]);
      expect(await desk.receipts()).toEqual({ STOP: 'read', AGAIN: 'read' });
    });

    it('a pause refuses every call until a person lifts it', async () => {
      let ran = 0;
      desk = await Desk.start(major, api, [
        { says: [call('call_1', 'write')] },
        { says: [call('call_2', 'write')] },
        { says: [text('I wait.')] },
        { says: [call('call_3', 'write')] },
        { says: [text('Done.')] },
      ]);
      const { sdk, ear } = desk;
      const tools = { write: sdk.tool({ inputSchema: z.object({}), execute: async () => `ran ${++ran}` }) };
      await desk.queue('HOLD on', { action: 'pause' });
      desk.ask('Write it.');
      expect(await ear.run(sdk.streamText, desk.options(tools))).toMatchObject({ text: 'I wait.' });
      expect(ran).toBe(0);
      await desk.inbox.resume('shop/coder', { person: 'ann' });
      desk.ask('Go on.');
      await ear.run(sdk.streamText, desk.options(tools));
      expect(ran).toBe(1);
      desk.check([]);
      desk.checkBytes();
    });
  });

  it('a cancel aborts a running tool, and the turn continues', async () => {
    proves('ai-sdk:interrupt');
    desk = await Desk.start(major, api, [{ says: [call('call_1', 'waits')] }, { says: [text('Done.')] }]);
    const { sdk, ear } = desk;
    let aborted = false;
    const tools = {
      waits: sdk.tool({
        inputSchema: z.object({}),
        execute: async (_input, { abortSignal }): Promise<string> => {
          abortSignal?.addEventListener('abort', () => (aborted = true));
          await desk.queue('ENOUGH of that', { action: 'cancel' });
          return new Promise(() => {});
        },
      }),
    };
    desk.ask('Wait.');
    await ear.run(sdk.streamText, desk.options(tools));
    expect(aborted).toBe(true);
    desk.check(['ENOUGH', 'aborted by an interrupt']);
    expect(desk.requests).toHaveLength(2);
  });

  it('a tool that is called after a cancel returns its own result in the same turn', async () => {
    proves('ai-sdk:interrupt');
    desk = await Desk.start(major, api, [
      { says: [call('call_1', 'waits')] },
      { says: [call('call_2', 'undo')] },
      { says: [text('Done.')] },
    ]);
    const { sdk, ear } = desk;
    const aborted: (boolean | undefined)[] = [];
    const tools = {
      waits: sdk.tool({
        inputSchema: z.object({}),
        execute: async (): Promise<string> => {
          await desk.queue('ENOUGH of that', { action: 'cancel' });
          return new Promise(() => {});
        },
      }),
      undo: sdk.tool({
        inputSchema: z.object({}),
        execute: async (_input, { abortSignal }) => `undone ${aborted.push(abortSignal?.aborted)}`,
      }),
    };
    desk.ask('Wait.');
    await ear.run(sdk.streamText, desk.options(tools));
    expect(aborted).toEqual([false]);
    desk.check(['ENOUGH', 'aborted by an interrupt', 'undone 1']);
  });

  it("the caller's own abort keeps the partial text", async () => {
    desk = await Desk.start(major, api, [
      {
        says: [text('it grows as I watch and watch')],
        at: [
          {
            part: 0,
            delta: 3,
            do: async ({ cutOff }) => {
              await heard('grows as ');
              controller.abort();
              await cutOff;
            },
          },
        ],
      },
      { says: [text('Well.')] },
    ]);
    const controller = new AbortController();
    const { heard, listen } = listening();
    const { sdk, ear } = desk;
    desk.ask('Watch it.');
    const options = { ...desk.options({}), abortSignal: controller.signal, onError: () => {} };
    expect(await ear.run(sdk.streamText, options, { onResult: listen })).toMatchObject({ how: 'stopped', interrupts: 0 });
    await desk.queue('LATER it is green');
    desk.ask('Go on.');
    await ear.run(sdk.streamText, desk.options({}));
    desk.check(['it grows as', 'LATER']);
    expect(desk.shape).toEqual(['user: text', 'assistant: text', 'user: text text', 'assistant: text']);
  });
});

it.each(MAJORS)('AI SDK %i: after eight interrupts, a further interrupt waits for the next turn', async (major) => {
  await using desk: Desk = await Desk.start(major, 'openai-chat', [
    ...Array.from({ length: 8 }, (_, n) => ({
      says: [text(`Answer ${n}.`)],
      before: () => desk.queue(`STOP${n} the disk is full`, { level: 'critical' }),
    })),
    { says: [call('call_1', 'read')] },
    {
      says: [text('Done.')],
      before: async ({ cutOff }) => {
        await desk.queue('AGAIN the disk is full', { level: 'critical' });
        await Promise.race([cutOff, setTimeout(500)]);
      },
    },
    { says: [text('I see.')] },
  ]);
  const { sdk, ear } = desk;
  const tools = { read: sdk.tool({ inputSchema: z.object({}), execute: async () => 'cart.ts' }) };
  desk.ask('Watch it.');
  const turn = await ear.run(sdk.streamText, { ...desk.options(tools), onError: () => {} });
  expect(turn).toMatchObject({ text: 'Done.', how: 'complete', interrupts: 8 });
  expect(desk.requests).toHaveLength(10);
  desk.ask('Thanks.');
  await ear.run(sdk.streamText, desk.options(tools));
  expect(await desk.receipts()).toMatchObject({ STOP7: 'read', AGAIN: 'delivered' });
});

describe.each(MAJORS)('AI SDK %i: an asynchronous onResult', (major) => {
  const interrupted = (desk: () => Desk): Parameters<typeof Desk.start>[2] => [
    {
      before: async ({ cutOff }) => {
        await desk().queue('STOP the disk is full', { level: 'critical' });
        await cutOff;
      },
    },
    { says: [text('I have stopped.')] },
  ];

  it('ends before the turn ends and before the next call', async () => {
    await using desk: Desk = await Desk.start(
      major,
      'openai-chat',
      interrupted(() => desk),
    );
    desk.ask('Watch it.');
    const shown: string[] = [];
    const show = async ({ textStream }: { textStream: AsyncIterable<string> }): Promise<void> => {
      shown.push('begin');
      for await (const delta of textStream) {
        await setTimeout(20);
        shown.push(delta);
      }
      await setTimeout(20);
      shown.push('end');
    };
    const options = { ...desk.options({}), onError: () => {} };
    expect(await desk.ear.run(desk.sdk.streamText, options, { onResult: show })).toMatchObject({ text: 'I have stopped.' });
    expect(shown.join('')).toBe('beginendbeginI have stopped.end');
  });

  it('that fails ends the request, and run rejects with its error', async () => {
    const [asked, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const before = async ({ cutOff }: Request): Promise<void> => {
      asked.resolve();
      await cutOff;
      over.resolve();
    };
    await using desk: Desk = await Desk.start(major, 'openai-chat', [{ before }, { says: [text('Well.')] }]);
    desk.ask('Watch it.');
    const fails = async (): Promise<void> => {
      await asked.promise;
      throw new Error('write EPIPE');
    };
    const options = { ...desk.options({}), onError: () => {} };
    await expect(desk.ear.run(desk.sdk.streamText, options, { onResult: fails })).rejects.toThrow('write EPIPE');
    await over.promise;
    expect(await desk.ear.run(desk.sdk.streamText, options)).toMatchObject({ text: 'Well.' });
  });

  it('that awaits the text of an interrupted answer does not end the turn', async () => {
    await using desk: Desk = await Desk.start(
      major,
      'openai-chat',
      interrupted(() => desk),
    );
    desk.ask('Watch it.');
    const texts: string[] = [];
    const options = { ...desk.options({}), onError: () => {} };
    const onResult = async ({ text: said }: { text: PromiseLike<string> }): Promise<void> => void texts.push(await said);
    expect(await desk.ear.run(desk.sdk.streamText, options, { onResult })).toMatchObject({ text: 'I have stopped.' });
    expect(texts).toEqual(['I have stopped.']);
  });
});

it('an interrupt between a failed call and the end of its step keeps the call and its error', async () => {
  await using desk: Desk = await Desk.start(7, 'anthropic', []);
  const { sdk, ear } = desk;
  const fail = async (): Promise<string> => {
    throw new Error('half of it is written');
  };
  const write = sdk.tool({ inputSchema: z.object({}), execute: fail });
  let calls = 0;
  /** Handles a failed tool as `generateText` does, and waits for an abort before the step ends. */
  const generate = async ({ tools, messages, abortSignal, onStepFinish }: Generate): Promise<{ text: string }> => {
    if (calls++ > 0) {
      const answer = { role: 'assistant', content: 'I have stopped.' };
      await onStepFinish({ text: answer.content, response: { messages: [answer] } });
      return { text: answer.content };
    }
    const error: unknown = await tools.write.execute({}, { toolCallId: 'call_1', messages }).catch((why: unknown) => why);
    await desk.queue('STOP the disk is full', { level: 'critical' });
    await setTimeout(300);
    abortSignal.throwIfAborted();
    const result = { type: 'tool-result', toolCallId: 'call_1', output: { type: 'error-text', value: String(error) } };
    await onStepFinish({ text: '', response: { messages: [{ role: 'tool', content: [result] }] } });
    return { text: '' };
  };
  desk.ask('Write it.');
  await ear.run(generate as never, desk.options({ write }));
  expect(calls).toBe(2);
  expect(desk.shape).toEqual(['user: text', 'tool: tool-result', 'user: text', 'assistant: text']);
  expect(JSON.stringify(desk.messages)).toMatch(/half of it is written.*STOP/u);
});

type Generate = {
  tools: { write: { execute: (input: object, options: object) => Promise<string> } };
  messages: object[];
  abortSignal: AbortSignal;
  onStepFinish: (step: object) => Promise<void>;
};

/** `heard` resolves when the text of the streams ends with `end`, as a user's screen would show it. */
function listening(): { heard: (end: string) => Promise<void>; listen: (result: { textStream: AsyncIterable<string> }) => void } {
  let said = '';
  let waiting: { end: string; resolve: () => void }[] = [];
  const look = (): void => {
    for (const { end, resolve } of waiting) if (said.endsWith(end)) resolve();
    waiting = waiting.filter(({ end }) => !said.endsWith(end));
  };
  return {
    heard: (end) =>
      new Promise((resolve) => {
        waiting.push({ end, resolve });
        look();
      }),
    listen: ({ textStream }) =>
      void (async () => {
        for await (const delta of textStream) {
          said += delta;
          look();
        }
      })().catch(() => {}),
  };
}
