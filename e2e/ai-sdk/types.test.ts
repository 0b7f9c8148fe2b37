/** Tests the types of `run` with the functions of AI SDK 6 and 7. */
import type { generateText, ModelMessage, streamText, ToolLoopAgent } from 'ai';
import type { generateText as generateText6, ModelMessage as ModelMessage6, streamText as streamText6 } from 'ai-6';
import { expectTypeOf, it } from 'vitest';
import type { MessageOf } from '../../src/ai-sdk/index.ts';

type MessageOfCall<C extends (options: never) => unknown> = MessageOf<Parameters<C>[0]>;

it("the messages of a turn have the SDK's type", () => {
  expectTypeOf<MessageOfCall<typeof streamText>>().toEqualTypeOf<ModelMessage>();
  expectTypeOf<MessageOfCall<typeof generateText>>().toEqualTypeOf<ModelMessage>();
  expectTypeOf<MessageOfCall<ToolLoopAgent['stream']>>().toEqualTypeOf<ModelMessage>();
  expectTypeOf<MessageOfCall<typeof streamText6>>().toEqualTypeOf<ModelMessage6>();
  expectTypeOf<MessageOfCall<typeof generateText6>>().toEqualTypeOf<ModelMessage6>();
  expectTypeOf<MessageOf<object>>().toEqualTypeOf<{ readonly role: string; readonly content: unknown }>();
});
