import { chunked, event, halvesOf, wordsOf, type Wire } from '../answer.ts';

const ENDINGS = { length: 'max_output_tokens', refusal: 'content_filter' } as const;

/** Writes OpenAI responses. Signed reasoning has its encrypted content at the item's end, as with `store: false`. */
export const responses: Wire = (answer, n, ending) => {
  let sequence_number = 0;
  const say = (type: string, data: object): string => event({ type, sequence_number: sequence_number++, ...data }, type);
  const response = { id: `resp_${n}`, object: 'response', created_at: 1, model: 'scripted', status: 'in_progress', output: [] };
  const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
  return chunked(answer, {
    start: say('response.created', { response }),
    part(part, output_index) {
      const added = (item: object): string => say('response.output_item.added', { output_index, item });
      const done = (item: object): string => say('response.output_item.done', { output_index, item });
      if (part.kind === 'text') {
        const item = { type: 'message', id: `msg_${n}_${output_index}`, role: 'assistant' };
        const [first = '', ...rest] = wordsOf(part.text).map((delta) =>
          say('response.output_text.delta', { item_id: item.id, output_index, content_index: 0, delta, logprobs: [] }),
        );
        const content = [{ type: 'output_text', text: part.text, annotations: [], logprobs: [] }];
        return [
          added({ ...item, status: 'in_progress', content: [] }) + first,
          ...rest,
          done({ ...item, status: 'completed', content }),
        ];
      }
      if (part.kind === 'reasoning') {
        const id = `rs_${n}_${output_index}`;
        const sealed = part.signed === false ? {} : { encrypted_content: `sealed-${n}-${output_index}` };
        const at = { item_id: id, output_index, summary_index: 0 };
        const [first = '', ...rest] = wordsOf(part.text).map((delta) =>
          say('response.reasoning_summary_text.delta', { ...at, delta }),
        );
        return [
          added({ type: 'reasoning', id, summary: [] }) +
            say('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } }) +
            first,
          ...rest,
          say('response.reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text: part.text } }) +
            done({ type: 'reasoning', id, summary: [{ type: 'summary_text', text: part.text }], ...sealed }),
        ];
      }
      const item = { type: 'function_call', id: `fc_${n}_${output_index}`, call_id: part.id, name: part.name };
      const at = { item_id: item.id, output_index };
      const [first, second] = halvesOf(part);
      return [
        added({ ...item, status: 'in_progress', arguments: '' }),
        say('response.function_call_arguments.delta', { ...at, delta: first }),
        say('response.function_call_arguments.delta', { ...at, delta: second }),
        say('response.function_call_arguments.done', { ...at, name: part.name, arguments: first + second }) +
          done({ ...item, status: part.cut === undefined ? 'completed' : 'incomplete', arguments: first + second }),
      ];
    },
    end:
      ending === 'error'
        ? say('response.failed', {
            response: { ...response, status: 'failed', error: { code: 'server_error', message: 'Internal server error' }, usage },
          })
        : ending
          ? say('response.incomplete', {
              response: { ...response, status: 'incomplete', incomplete_details: { reason: ENDINGS[ending] }, usage },
            })
          : say('response.completed', { response: { ...response, status: 'completed', usage } }),
  });
};
