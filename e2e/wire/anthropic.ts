/** Lists the rules that https://api.anthropic.com/v1/messages enforces. Errors have status 400, `invalid_request_error`. */
import { asList, asObject, type Json, type JsonObject } from '../model/json.ts';
import { isBlank, objectsOf, repeated, show, type Rule, word } from './rule.ts';

const messages = (body: JsonObject) => objectsOf(body['messages']);
/** Returns the blocks of a message. A plain text is one block. */
const blocks = ({ content }: JsonObject): readonly (readonly [number, JsonObject])[] =>
  typeof content === 'string' ? [[0, { type: 'text', text: content }]] : objectsOf(content);
const ofType = (message: JsonObject, type: string) => blocks(message).filter(([, block]) => block['type'] === type);
const isThinking = (block: JsonObject | undefined): boolean => /^(redacted_)?thinking$/.test(word(block?.['type']));
const thinks = (body: JsonObject): boolean => ['enabled', 'adaptive'].includes(word(asObject(body['thinking'])?.['type']));
const idsOf = (message: JsonObject | undefined, type: string, key: string): readonly (Json | undefined)[] =>
  message === undefined ? [] : ofType(message, type).map(([, block]) => block[key]);

export const anthropic: readonly Rule[] = [
  {
    id: 'anthropic:max-tokens',
    source: 'error: max_tokens: Field required; `max_tokens` must be greater than `thinking.budget_tokens`.',
    *breaks(body) {
      const { max_tokens } = body;
      const budget = Number(asObject(body['thinking'])?.['budget_tokens'] ?? 0);
      if (typeof max_tokens !== 'number' || max_tokens < 1) yield `max_tokens is ${show(max_tokens)}`;
      else if (max_tokens <= budget) yield `max_tokens ${max_tokens} is not more than thinking.budget_tokens ${budget}`;
    },
  },
  {
    id: 'anthropic:messages',
    source: 'error: messages: at least one message is required',
    *breaks(body) {
      if (!asList(body['messages'])?.length) yield `messages is ${show(body['messages'])}`;
    },
  },
  {
    id: 'anthropic:role',
    source:
      'error: messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.',
    *breaks(body) {
      for (const [i, { role }] of messages(body))
        if (role !== 'user' && role !== 'assistant') yield `messages[${i}].role is ${show(role)}`;
    },
  },
  {
    id: 'anthropic:first-user',
    source: 'error: messages: first message must use the "user" role',
    *breaks(body) {
      const first = messages(body)[0];
      if (first && first[1]['role'] === 'assistant') yield 'messages[0].role is "assistant"';
    },
  },
  {
    id: 'anthropic:alternation',
    source:
      'error: messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row. (Enforced on Bedrock and by older versions; the API itself joins them since.)',
    *breaks(body) {
      for (const [at, [i, { role }]] of messages(body).entries())
        if (at > 0 && messages(body)[at - 1]?.[1]['role'] === role) yield `messages[${i}].role is ${show(role)} again`;
    },
  },
  {
    id: 'anthropic:calls-answered',
    source:
      'error: messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_…. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    *breaks(body) {
      const all = messages(body);
      for (const [at, [i, message]] of all.entries()) {
        const answers = idsOf(all[at + 1]?.[1], 'tool_result', 'tool_use_id');
        for (const [j, { id }] of ofType(message, 'tool_use'))
          if (!answers.includes(id)) yield `messages[${i}].content[${j}] ${show(id)} has no tool_result in the next message`;
      }
    },
  },
  {
    id: 'anthropic:orphan-result',
    source:
      'error: messages.0.content.1: unexpected `tool_use_id` found in `tool_result` blocks: toolu_…. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
    *breaks(body) {
      const all = messages(body);
      for (const [at, [i, message]] of all.entries()) {
        const called = idsOf(all[at - 1]?.[1], 'tool_use', 'id');
        for (const [j, { tool_use_id }] of ofType(message, 'tool_result'))
          if (!called.includes(tool_use_id))
            yield `messages[${i}].content[${j}] answers ${show(tool_use_id)}, which the message before did not call`;
      }
    },
  },
  {
    id: 'anthropic:results-first',
    source:
      'error: messages.27: Did not find 1 tool_result block(s) at the beginning of this message. Messages following tool_use blocks must begin with a matching number of tool_result blocks. Docs, Implement tool use: text must come after all tool results.',
    *breaks(body) {
      for (const [i, message] of messages(body)) {
        const other = blocks(message).findIndex(([, block]) => block['type'] !== 'tool_result');
        for (const [j] of ofType(message, 'tool_result'))
          if (other >= 0 && j > other)
            yield `messages[${i}].content[${j}] is a result behind ${show(blocks(message)[other]?.[1]['type'])}`;
      }
    },
  },
  {
    id: 'anthropic:answered-once',
    source:
      'error: messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_…',
    *breaks(body) {
      for (const [i, message] of messages(body))
        yield* repeated(
          ofType(message, 'tool_result').map(([j, block]) => [`messages[${i}].content[${j}]`, block['tool_use_id']] as const),
        );
    },
  },
  {
    id: 'anthropic:call-ids',
    source:
      'error: messages.1.content.2: `tool_use` ids must be unique; messages.1.content.0.tool_use.id: String should match pattern ^[a-zA-Z0-9_-]+$',
    *breaks(body) {
      const ids = messages(body).flatMap(([i, message]) =>
        ofType(message, 'tool_use').map(([j, block]) => [`messages[${i}].content[${j}].id`, block['id']] as const),
      );
      yield* repeated(ids);
      for (const [where, id] of ids) if (typeof id !== 'string' || !/^[a-zA-Z0-9_-]+$/.test(id)) yield `${where} is ${show(id)}`;
    },
  },
  {
    id: 'anthropic:input',
    source: 'error: messages.1.content.0.tool_use.input: Input should be a valid dictionary',
    *breaks(body) {
      for (const [i, message] of messages(body))
        for (const [j, { input }] of ofType(message, 'tool_use'))
          if (!asObject(input)) yield `messages[${i}].content[${j}].input is ${show(input)}`;
    },
  },
  {
    id: 'anthropic:blank-text',
    source:
      'error: messages: text content blocks must be non-empty; messages: text content blocks must contain non-whitespace text',
    *breaks(body) {
      for (const [i, message] of messages(body)) {
        for (const [j, { text }] of ofType(message, 'text'))
          if (isBlank(text)) yield `messages[${i}].content[${j}].text is ${show(text)}`;
        for (const [j, result] of ofType(message, 'tool_result'))
          for (const [k, part] of objectsOf(result['content']))
            if (part['type'] === 'text' && isBlank(part['text']))
              yield `messages[${i}].content[${j}].content[${k}].text is blank`;
      }
      for (const [i, { text }] of objectsOf(body['system'])) if (isBlank(text)) yield `system[${i}].text is blank`;
    },
  },
  {
    id: 'anthropic:content',
    source: 'error: messages.3: all messages must have non-empty content except for the optional final assistant message',
    *breaks(body) {
      const all = messages(body);
      for (const [at, [i, message]] of all.entries())
        if (blocks(message).length === 0 && !(at === all.length - 1 && message['role'] === 'assistant'))
          yield `messages[${i}] has no content`;
    },
  },
  {
    id: 'anthropic:error-says',
    source: 'error: messages.2.content.0.tool_result: content cannot be empty if `is_error` is true',
    *breaks(body) {
      for (const [i, message] of messages(body))
        for (const [j, { is_error, content }] of ofType(message, 'tool_result'))
          if (is_error === true && (content === undefined || isBlank(content) || asList(content)?.length === 0))
            yield `messages[${i}].content[${j}] is an error without a word`;
    },
  },
  {
    id: 'anthropic:trailing-space',
    source: 'error: messages: final assistant content cannot end with trailing whitespace',
    *breaks(body) {
      const last = messages(body).at(-1);
      const block = last?.[1]['role'] === 'assistant' ? blocks(last[1]).at(-1)?.[1] : undefined;
      if (typeof block?.['text'] === 'string' && /\s$/.test(block['text'])) yield `messages[${last?.[0]}] ends with white space`;
    },
  },
  {
    id: 'anthropic:prefill',
    source:
      'error: This model does not support assistant message prefill. The conversation must end with a user message. Docs, Extended thinking: no prefill while thinking.',
    *breaks(body) {
      if (thinks(body) && messages(body).at(-1)?.[1]['role'] === 'assistant') yield 'the last message is the assistant’s';
    },
  },
  {
    id: 'anthropic:signed-thinking',
    source: 'error: messages.1.content.0.thinking.signature: Field required; Invalid `signature` in `thinking` block',
    *breaks(body) {
      for (const [i, message] of messages(body))
        for (const [j, { signature }] of ofType(message, 'thinking'))
          if (typeof signature !== 'string' || signature === '')
            yield `messages[${i}].content[${j}].signature is ${show(signature)}`;
    },
  },
  {
    id: 'anthropic:thinking-first',
    source:
      'error: messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).',
    *breaks(body) {
      if (!thinks(body) || asObject(body['thinking'])?.['type'] === 'adaptive') return;
      // The rule applies only to the current tool loop, whose answers follow the last user message that is not a result.
      const all = messages(body);
      const turn = all.findLastIndex(([, message]) => message['role'] === 'user' && ofType(message, 'tool_result').length === 0);
      for (const [i, message] of all.slice(turn + 1))
        if (message['role'] === 'assistant' && ofType(message, 'tool_use').length > 0 && !isThinking(blocks(message)[0]?.[1]))
          yield `messages[${i}] begins with ${show(blocks(message)[0]?.[1]['type'])}`;
    },
  },
  {
    id: 'anthropic:thinking-last',
    source: 'error: messages.1: The final block in an assistant message cannot be `thinking`.',
    *breaks(body) {
      for (const [i, message] of messages(body))
        if (message['role'] === 'assistant' && isThinking(blocks(message).at(-1)?.[1])) yield `messages[${i}] ends with thinking`;
    },
  },
  {
    id: 'anthropic:tools',
    source: 'error: Requests which include `tool_use` or `tool_result` blocks must define tools',
    *breaks(body) {
      if (!asList(body['tools'])?.length && messages(body).some(([, message]) => ofType(message, 'tool_use').length > 0))
        yield 'tool_use without tools';
    },
  },
  {
    id: 'anthropic:cache-marks',
    source:
      'error: A maximum of 4 blocks with cache_control may be provided. Found 5.; messages.0.content.0.text: cache_control cannot be set for empty text blocks; Docs, Prompt caching: thinking blocks cannot be marked.',
    *breaks(body) {
      const all = [
        ...objectsOf(body['tools']).map(([i, tool]) => [`tools[${i}]`, tool] as const),
        ...objectsOf(body['system']).map(([i, block]) => [`system[${i}]`, block] as const),
        ...messages(body).flatMap(([i, message]) =>
          blocks(message).map(([j, block]) => [`messages[${i}].content[${j}]`, block] as const),
        ),
      ].filter(([, block]) => block['cache_control'] !== undefined);
      const found = all.length + (body['cache_control'] === undefined ? 0 : 1);
      if (found > 4) yield `${found} blocks have cache_control: ${all.map(([where]) => where).join(', ')}`;
      for (const [where, block] of all)
        if (isThinking(block) || (block['type'] === 'text' && isBlank(block['text']))) yield `${where} cannot have cache_control`;
    },
  },
  {
    id: 'anthropic:block-side',
    source:
      'error: messages.0.content.0: `tool_use` blocks can only be in `assistant` messages; `tool_result` blocks can only be in `user` messages',
    *breaks(body) {
      for (const [i, message] of messages(body))
        for (const [j, { type }] of blocks(message))
          if (message['role'] === 'user' ? type === 'tool_use' || type === 'thinking' : type === 'tool_result')
            yield `messages[${i}].content[${j}] is ${show(type)} in a message of ${word(message['role'])}`;
    },
  },
];
