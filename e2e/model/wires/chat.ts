import { chunked, event, halvesOf, wordsOf, type Wire } from '../answer.ts';

/** The finish reason of each ending. `error` comes from gateways to other models, such as OpenRouter. */
const ENDINGS = { length: 'length', refusal: 'content_filter', error: 'error' } as const;

/** Writes OpenAI chat completions. Reasoning is sent as `reasoning_content`, as other providers of this format send it. */
export const chat: Wire = (answer, n, ending) => {
  const chunk = (delta: object, finish_reason: string | null = null): string =>
    event({
      id: `chatcmpl-${n}`,
      object: 'chat.completion.chunk',
      created: 1,
      model: 'scripted',
      choices: [{ index: 0, delta, finish_reason }],
    });
  const calls = answer.filter((part) => part.kind === 'call');
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  return chunked(answer, {
    start: chunk({ role: 'assistant' }),
    end: `${chunk({}, ending ? ENDINGS[ending] : calls.length > 0 ? 'tool_calls' : 'stop')}${event({ id: `chatcmpl-${n}`, object: 'chat.completion.chunk', created: 1, model: 'scripted', choices: [], usage })}data: [DONE]\n\n`,
    part(part) {
      if (part.kind === 'text') return [...wordsOf(part.text).map((content) => chunk({ content })), ''];
      if (part.kind === 'reasoning') return [...wordsOf(part.text).map((reasoning_content) => chunk({ reasoning_content })), ''];
      const index = calls.indexOf(part);
      const [first, second] = halvesOf(part);
      const { id, name } = part;
      return [
        chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: first } }] }),
        chunk({ tool_calls: [{ index, function: { arguments: second } }] }),
        '',
      ];
    },
  });
};
