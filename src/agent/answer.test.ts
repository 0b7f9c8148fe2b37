import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { askModel } from './answer.ts';
import { scriptedModel } from './scripted-model.ts';

const said = { type: 'text-delta', id: 't', delta: 'said ' } as const;
const text: readonly LanguageModelV4StreamPart[] = [{ type: 'text-start', id: 't' }, said];
const callNamed: LanguageModelV4StreamPart = { type: 'tool-input-start', id: 'a', toolName: 'echo' };
const args = (delta: string): LanguageModelV4StreamPart => ({ type: 'tool-input-delta', id: 'a', delta });
const reasoning = (signature?: string): readonly LanguageModelV4StreamPart[] => [
  { type: 'reasoning-start', id: 'r', providerMetadata: { openai: { itemId: 'rs_1', reasoningEncryptedContent: null } } },
  { type: 'reasoning-delta', id: 'r', delta: 'hm' },
  {
    type: 'reasoning-end',
    id: 'r',
    ...(signature ? { providerMetadata: { openai: { reasoningEncryptedContent: signature } } } : {}),
  },
];

describe('the part of an aborted answer that is kept', () => {
  it.each<[string, readonly LanguageModelV4StreamPart[], readonly object[]]>([
    ['nothing', [], []],
    ['text', text, [{ message: 'said ', truncated: true }]],
    [
      'a complete text of an incomplete answer',
      [...text, { type: 'text-end', id: 't' }],
      [{ message: 'said ', truncated: true }],
    ],
    [
      'blank text',
      [
        { type: 'text-start', id: 't' },
        { ...said, delta: ' \n' },
      ],
      [],
    ],
    ['a call with only its name', [callNamed], []],
    ['a call whose arguments have begun', [callNamed, args('{"a":')], []],
    ['a call whose arguments are whole', [callNamed, args('{"a":'), args('1}')], [{ id: 'a', arguments: { a: 1 } }]],
    ['text before a call', [...text, callNamed, args('{}')], [{ message: 'said ' }, { id: 'a', arguments: {} }]],
    ['reasoning alone', reasoning('sealed'), []],
    ['unsigned reasoning before text', [...reasoning(), ...text], [{ message: 'said ', truncated: true }]],
    [
      'signed reasoning before text',
      [...reasoning('sealed'), ...text],
      [{ reasoning: 'hm', metadata: { provider: { openai: { reasoningEncryptedContent: 'sealed' } } } }, { message: 'said ' }],
    ],
  ])('%s', async (_, parts, kept) => {
    const abort = new AbortController();
    const stream = new ReadableStream<LanguageModelV4StreamPart>(
      {
        pull(controller) {
          const part = parts[at++];
          if (part) controller.enqueue(part);
          else abort.abort('enough');
        },
      },
      { highWaterMark: 0 },
    );
    let at = 0;
    const model = { ...scriptedModel([]), doStream: () => Promise.resolve({ stream }) };
    const answer = await askModel(model, { prompt: [], abortSignal: abort.signal }, () => {});
    expect(answer).toMatchObject({ kind: 'aborted', reason: 'enough', records: kept });
  });
});
