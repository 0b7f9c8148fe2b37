/** Lists the rules that https://api.openai.com/v1/responses enforces. */
import { asList, asString, type Json, type JsonObject } from '../model/json.ts';
import { isJsonText, objectsOf, repeated, show, type Rule, word } from './rule.ts';

const typeOf = (item: JsonObject): string => asString(item['type']) ?? ('role' in item ? 'message' : '?');
const items = (body: JsonObject) => objectsOf(body['input']);
const ofType = (body: JsonObject, ...types: readonly string[]) => items(body).filter(([, item]) => types.includes(typeOf(item)));

const ITEMS = ['message', 'function_call', 'function_call_output', 'reasoning', 'item_reference'];
const INPUT_PARTS = ['input_text', 'input_image', 'input_file'];
const PREFIX: Readonly<Record<string, string>> = {
  message: 'msg',
  function_call: 'fc',
  function_call_output: 'fc',
  reasoning: 'rs',
};

export const openaiResponses: readonly Rule[] = [
  {
    id: 'responses:input',
    source: "error: Missing required parameter: 'input'. One of input, previous_response_id or prompt must be given.",
    *breaks(body) {
      const { input } = body;
      if (!(typeof input === 'string' ? input : asList(input)?.length)) yield `input is ${show(input)}`;
    },
  },
  {
    id: 'responses:item-type',
    source: "error: Invalid value: 'x'. Supported values are: 'message', 'function_call', 'function_call_output', 'reasoning', …",
    *breaks(body) {
      for (const [i, item] of items(body)) if (!ITEMS.includes(typeOf(item))) yield `input[${i}].type is ${show(item['type'])}`;
    },
  },
  {
    id: 'responses:role',
    source: "error: Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
    *breaks(body) {
      for (const [i, { role }] of ofType(body, 'message'))
        if (!['user', 'assistant', 'system', 'developer'].includes(word(role))) yield `input[${i}].role is ${show(role)}`;
    },
  },
  {
    id: 'responses:call-answered',
    source: 'error: No tool output found for function call call_….',
    *breaks(body) {
      for (const [i, { call_id }] of ofType(body, 'function_call'))
        if (!ofType(body, 'function_call_output').some(([j, output]) => j > i && output['call_id'] === call_id))
          yield `input[${i}] ${show(call_id)} has no output behind it`;
    },
  },
  {
    id: 'responses:orphan-output',
    source: 'error: No tool call found for function call output with call_id call_….',
    *breaks(body) {
      for (const [i, { call_id }] of ofType(body, 'function_call_output'))
        if (!ofType(body, 'function_call').some(([j, call]) => j < i && call['call_id'] === call_id))
          yield `input[${i}] is the output of ${show(call_id)}, which was not called before it`;
    },
  },
  {
    id: 'responses:call-ids',
    source: "error: Duplicate 'call_id': call_…. One call, one output.",
    *breaks(body) {
      for (const type of ['function_call', 'function_call_output'])
        yield* repeated(ofType(body, type).map(([i, item]) => [`input[${i}].call_id`, item['call_id']] as const));
    },
  },
  {
    id: 'responses:item-ids',
    source: 'error: Duplicate item found with id rs_…. Remove duplicate items from your input and try again.',
    *breaks(body) {
      yield* repeated(items(body).map(([i, item]) => [`input[${i}].id`, item['id']] as const));
    },
  },
  {
    id: 'responses:id-prefix',
    source: "error: Invalid 'input[3].id': 'call_…'. Expected an ID that begins with 'fc'.",
    *breaks(body) {
      for (const [i, item] of items(body)) {
        const prefix = PREFIX[typeOf(item)];
        if (prefix !== undefined && typeof item['id'] === 'string' && !item['id'].startsWith(prefix))
          yield `input[${i}].id is ${show(item['id'])}, not ${prefix}_…`;
      }
    },
  },
  {
    id: 'responses:arguments',
    source: "error: Invalid type for 'input[2].arguments': expected a string, but got an object instead.",
    *breaks(body) {
      for (const [i, { arguments: args }] of ofType(body, 'function_call'))
        if (!isJsonText(args)) yield `input[${i}].arguments is no JSON text: ${show(args)}`;
    },
  },
  {
    id: 'responses:output',
    source: "error: Missing required parameter: 'input[3].output'. A text or a list of input parts.",
    *breaks(body) {
      for (const [i, { output }] of ofType(body, 'function_call_output'))
        if (typeof output !== 'string' && !objectsOf(output).every(([, part]) => INPUT_PARTS.includes(word(part['type']))))
          yield `input[${i}].output is ${show(output)}`;
        else if (output === undefined) yield `input[${i}] has no output`;
    },
  },
  {
    id: 'responses:part-type',
    source: "error: Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'. (And the other way round.)",
    *breaks(body) {
      for (const [i, { role, content }] of ofType(body, 'message')) {
        const may = role === 'assistant' ? ['output_text', 'refusal'] : INPUT_PARTS;
        for (const [j, part] of objectsOf(content))
          if (!may.includes(word(part['type'])))
            yield `input[${i}].content[${j}] has type ${show(part['type'])}, not ${may.join(' or ')}`;
      }
    },
  },
  {
    id: 'responses:content',
    source: "error: Missing required parameter: 'input[0].content'. Earpiece must not send an empty text either.",
    *breaks(body) {
      const empty = (value: Json | undefined): boolean => value === undefined || value === null || value === '';
      for (const [i, { content }] of ofType(body, 'message')) {
        if (empty(content) || asList(content)?.length === 0) yield `input[${i}].content is ${show(content)}`;
        for (const [j, part] of objectsOf(content))
          if ('text' in part && empty(part['text'])) yield `input[${i}].content[${j}] is empty`;
      }
    },
  },
  {
    id: 'responses:reasoning-followed',
    source: "error: Item 'rs_…' of type 'reasoning' was provided without its required following item.",
    *breaks(body) {
      for (const [i] of ofType(body, 'reasoning')) {
        const next = items(body).find(([j, item]) => j > i && typeOf(item) !== 'reasoning')?.[1];
        if (
          next === undefined ||
          !(typeOf(next) === 'function_call' || (typeOf(next) === 'message' && next['role'] === 'assistant'))
        )
          yield `input[${i}] is reasoning, and what follows it is ${next === undefined ? 'nothing' : `${typeOf(next)} ${show(next['role'])}`}`;
      }
    },
  },
  {
    id: 'responses:not-stored',
    source:
      "error: Item with id 'rs_…' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.",
    *breaks(body) {
      if (body['store'] !== false) return;
      for (const [i, { encrypted_content }] of ofType(body, 'reasoning'))
        if (typeof encrypted_content !== 'string' || encrypted_content === '') yield `input[${i}] has no encrypted_content`;
      for (const [i] of ofType(body, 'item_reference')) yield `input[${i}] refers to an item that is not stored`;
      if (typeof body['previous_response_id'] === 'string') yield 'previous_response_id refers to a response that is not stored';
    },
  },
  {
    id: 'responses:summary',
    source: "error: Missing required parameter: 'input[1].summary'.",
    *breaks(body) {
      for (const [i, { summary }] of ofType(body, 'reasoning'))
        if (!asList(summary) || objectsOf(summary).some(([, part]) => part['type'] !== 'summary_text'))
          yield `input[${i}].summary is ${show(summary)}`;
    },
  },
];
