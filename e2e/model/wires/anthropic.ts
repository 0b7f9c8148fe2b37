import { chunked, event, halvesOf, wordsOf, type Wire } from '../answer.ts';

const ENDINGS = { length: 'max_tokens', refusal: 'refusal', error: '' } as const;

/** Writes Anthropic messages. Unsigned thinking has no signature_delta. */
export const anthropic: Wire = (answer, n, ending) => {
  const say = (type: string, data: object = {}): string => event({ type, ...data }, type);
  const message = { id: `msg_${n}`, type: 'message', role: 'assistant', model: 'scripted', content: [] };
  const calls = answer.some((part) => part.kind === 'call');
  // This API has no finish reason for an error: an error event replaces the end of the answer.
  const failed = say('error', { error: { type: 'api_error', message: 'Internal server error' } });
  return chunked(answer, {
    start: say('message_start', {
      message: { ...message, stop_reason: null, stop_sequence: null, usage: { input_tokens: 10, output_tokens: 1 } },
    }),
    part(part, index) {
      const start = (content_block: object): string => say('content_block_start', { index, content_block });
      const delta = (delta: object): string => say('content_block_delta', { index, delta });
      const stop = say('content_block_stop', { index });
      if (part.kind === 'text') {
        const [first = '', ...rest] = wordsOf(part.text).map((text) => delta({ type: 'text_delta', text }));
        return [start({ type: 'text', text: '' }) + first, ...rest, stop];
      }
      if (part.kind === 'reasoning') {
        const [first = '', ...rest] = wordsOf(part.text).map((thinking) => delta({ type: 'thinking_delta', thinking }));
        const signature = part.signed === false ? '' : delta({ type: 'signature_delta', signature: `signed-${n}-${index}` });
        return [start({ type: 'thinking', thinking: '', signature: '' }) + first, ...rest, signature + stop];
      }
      const [first, second] = halvesOf(part);
      return [
        start({ type: 'tool_use', id: part.id, name: part.name, input: {} }),
        delta({ type: 'input_json_delta', partial_json: first }),
        delta({ type: 'input_json_delta', partial_json: second }),
        stop,
      ];
    },
    end:
      ending === 'error'
        ? failed
        : say('message_delta', {
            delta: { stop_reason: ending ? ENDINGS[ending] : calls ? 'tool_use' : 'end_turn', stop_sequence: null },
            usage: { output_tokens: 5 },
          }) + say('message_stop'),
  });
};
