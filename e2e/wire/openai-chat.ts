/** Lists the rules that https://api.openai.com/v1/chat/completions enforces. Errors have status 400, `invalid_request_error`. */
import { asList, asObject, type JsonObject } from '../model/json.ts';
import { isJsonText, objectsOf, repeated, show, type Rule, word } from './rule.ts';

const messages = (body: JsonObject) => objectsOf(body['messages']);
const calls = (message: JsonObject) => objectsOf(message['tool_calls']);

/** The allowed content parts of each role. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  user: ['text', 'image_url', 'input_audio', 'file'],
  assistant: ['text', 'refusal'],
  system: ['text'],
  developer: ['text'],
  tool: ['text'],
};

export const openaiChat: readonly Rule[] = [
  {
    id: 'chat:messages',
    source: "error: Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
    *breaks(body) {
      if (!asList(body['messages'])?.length) yield `messages is ${show(body['messages'])}`;
    },
  },
  {
    id: 'chat:role',
    source:
      "error: Invalid value: 'x'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
    *breaks(body) {
      for (const [i, { role }] of messages(body))
        if (!['system', 'developer', 'user', 'assistant', 'tool'].includes(word(role)))
          yield `messages[${i}].role is ${show(role)}`;
    },
  },
  {
    id: 'chat:calls-answered',
    source:
      "error: An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: …",
    *breaks(body) {
      const all = messages(body);
      for (const [at, [i, message]] of all.entries()) {
        const answers = new Set<unknown>();
        for (const [, next] of all.slice(at + 1)) {
          if (next['role'] !== 'tool') break;
          answers.add(next['tool_call_id']);
        }
        for (const [j, { id }] of calls(message))
          if (!answers.has(id)) yield `messages[${i}].tool_calls[${j}] ${show(id)} has no tool message right behind it`;
      }
    },
  },
  {
    id: 'chat:orphan-result',
    source: "error: Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    *breaks(body) {
      let open = new Set<unknown>();
      for (const [i, message] of messages(body)) {
        if (message['role'] !== 'tool') open = new Set(calls(message).map(([, call]) => call['id']));
        else if (!open.has(message['tool_call_id']))
          yield `messages[${i}] answers ${show(message['tool_call_id'])}, which the assistant message before it did not call`;
      }
    },
  },
  {
    id: 'chat:answered-once',
    source: "error: Invalid parameter: Duplicate value for 'tool_call_id' of 'call_…', in messages[7] and messages[8].",
    *breaks(body) {
      yield* repeated(
        messages(body).flatMap(([i, message]) =>
          message['role'] === 'tool' ? [[`messages[${i}].tool_call_id`, message['tool_call_id']] as const] : [],
        ),
      );
    },
  },
  {
    id: 'chat:call-ids',
    source: "error: Duplicate call_ids submitted: ['call_…', 'call_…']",
    *breaks(body) {
      yield* repeated(
        messages(body).flatMap(([i, message]) =>
          calls(message).map(([j, { id }]) => [`messages[${i}].tool_calls[${j}].id`, id] as const),
        ),
      );
    },
  },
  {
    id: 'chat:call-id-length',
    source: "error: Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40.",
    *breaks(body) {
      for (const [i, message] of messages(body))
        for (const [j, { id }] of calls(message))
          if (typeof id !== 'string' || id.length === 0 || id.length > 40)
            yield `messages[${i}].tool_calls[${j}].id is ${show(id)}`;
    },
  },
  {
    id: 'chat:calls-not-empty',
    source: "error: Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1.",
    *breaks(body) {
      for (const [i, { tool_calls }] of messages(body))
        if (asList(tool_calls)?.length === 0) yield `messages[${i}].tool_calls is empty`;
    },
  },
  {
    id: 'chat:arguments',
    source:
      "error: Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object instead.",
    *breaks(body) {
      for (const [i, message] of messages(body))
        for (const [j, call] of calls(message))
          if (!isJsonText(asObject(call['function'])?.['arguments']))
            yield `messages[${i}].tool_calls[${j}].function.arguments is no JSON text: ${show(asObject(call['function'])?.['arguments'])}`;
    },
  },
  {
    id: 'chat:function-name',
    source:
      "error: Invalid 'messages[1].tool_calls[0].function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    *breaks(body) {
      const named = [
        ...messages(body).flatMap(([i, message]) =>
          calls(message).map(([j, call]) => [`messages[${i}].tool_calls[${j}]`, asObject(call['function'])?.['name']] as const),
        ),
        ...objectsOf(body['tools']).map(([i, tool]) => [`tools[${i}]`, asObject(tool['function'])?.['name']] as const),
      ];
      for (const [where, name] of named)
        if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) yield `${where} is named ${show(name)}`;
    },
  },
  {
    id: 'chat:content',
    source:
      "error: Invalid value for 'content': expected a string, got null. Reference, Create chat completion, assistant message: content is required unless tool_calls is given. OpenAI accepts empty texts, but other providers of this format refuse them.",
    *breaks(body) {
      for (const [i, { role, content, tool_calls, refusal }] of messages(body)) {
        const said = content !== null && content !== undefined;
        if (!said && !(role === 'assistant' && (asList(tool_calls)?.length || refusal)))
          yield `messages[${i}] (${show(role)}) has no content`;
        if ((content === '' && role !== 'tool' && !tool_calls) || asList(content)?.length === 0)
          yield `messages[${i}].content is empty`;
        if (typeof content === 'object' && content !== null && !asList(content)) yield `messages[${i}].content is an object`;
        if (typeof content === 'number' || typeof content === 'boolean') yield `messages[${i}].content is ${show(content)}`;
      }
    },
  },
  {
    id: 'chat:part-type',
    source:
      "error: Invalid 'messages[3]'. Image URLs are only allowed for messages with role 'user', but this message with role 'tool' contains an image URL. Reference, Create chat completion: each role's content parts.",
    *breaks(body) {
      for (const [i, { role, content }] of messages(body))
        for (const [j, part] of objectsOf(content)) {
          if (!PARTS[word(role)]?.includes(word(part['type'])))
            yield `messages[${i}].content[${j}] has type ${show(part['type'])}, which a ${word(role)} message may not have`;
          if (part['type'] === 'text' && (typeof part['text'] !== 'string' || part['text'] === ''))
            yield `messages[${i}].content[${j}].text is ${show(part['text'])}`;
        }
    },
  },
  {
    id: 'chat:tool-choice',
    source: "error: Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.",
    *breaks(body) {
      if (body['tool_choice'] !== undefined && !asList(body['tools'])?.length) yield 'tool_choice without tools';
    },
  },
];
