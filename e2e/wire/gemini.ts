/** Lists the rules that https://generativelanguage.googleapis.com enforces in `generateContent`. Errors are INVALID_ARGUMENT. */
import { asList, asObject, type JsonObject } from '../model/json.ts';
import { objectsOf, show, type Rule } from './rule.ts';

const contents = (body: JsonObject) => objectsOf(body['contents']);
const parts = (content: JsonObject | undefined) => objectsOf(content?.['parts']);
const withKey = (content: JsonObject | undefined, key: string) => parts(content).filter(([, part]) => key in part);
const namesOf = (content: JsonObject | undefined, key: string): readonly unknown[] =>
  withKey(content, key).map(([, part]) => asObject(part[key])?.['name']);
const DATA = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
];

export const gemini: readonly Rule[] = [
  {
    id: 'gemini:contents',
    source: 'error: * GenerateContentRequest.contents: contents is not specified',
    *breaks(body) {
      if (!asList(body['contents'])?.length) yield `contents is ${show(body['contents'])}`;
    },
  },
  {
    id: 'gemini:role',
    source: 'error: Please use a valid role: user, model.',
    *breaks(body) {
      for (const [i, { role }] of contents(body))
        if (role !== 'user' && role !== 'model') yield `contents[${i}].role is ${show(role)}`;
    },
  },
  {
    id: 'gemini:first-user',
    source:
      'error: Please ensure that multiturn requests start with a user role. Docs, Content: a conversation begins with the user.',
    *breaks(body) {
      const first = contents(body)[0];
      if (first && first[1]['role'] === 'model') yield 'contents[0].role is "model"';
    },
  },
  {
    id: 'gemini:last-user',
    source: 'error: Please ensure that multiturn requests ends with a user role or a function response.',
    *breaks(body) {
      if (contents(body).at(-1)?.[1]['role'] === 'model') yield 'the last content is the model’s';
    },
  },
  {
    id: 'gemini:parts',
    source:
      "error: * GenerateContentRequest.contents[1].parts: contents.parts must not be empty; contents[1].parts[0].data: required oneof field 'data' must have one initialized field",
    *breaks(body) {
      for (const [i, content] of contents(body)) {
        if (!asList(content['parts'])?.length) yield `contents[${i}].parts is ${show(content['parts'])}`;
        for (const [j, part] of parts(content)) {
          if (!DATA.some((key) => part[key] !== undefined)) yield `contents[${i}].parts[${j}] says nothing`;
          if (part['text'] === '' && part['thoughtSignature'] === undefined) yield `contents[${i}].parts[${j}].text is empty`;
        }
      }
    },
  },
  {
    id: 'gemini:calls-answered',
    source:
      'error: Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    *breaks(body) {
      const all = contents(body);
      for (const [at, [i, content]] of all.entries()) {
        const called = namesOf(content, 'functionCall');
        const answered = namesOf(all[at + 1]?.[1], 'functionResponse');
        if (called.length > 0 && called.length !== answered.length)
          yield `contents[${i}] has ${called.length} calls, the next has ${answered.length} responses`;
        else if (called.some((name, k) => name !== answered[k]))
          yield `contents[${i}] calls ${called.join(', ')}, the next answers ${answered.join(', ')}`;
      }
    },
  },
  {
    id: 'gemini:orphan-response',
    source: 'error: Please ensure that function response turn comes immediately after a function call turn.',
    *breaks(body) {
      const all = contents(body);
      for (const [at, [i, content]] of all.entries())
        if (withKey(content, 'functionResponse').length > 0 && withKey(all[at - 1]?.[1], 'functionCall').length === 0)
          yield `contents[${i}] has a response, but the content before it has no call`;
    },
  },
  {
    id: 'gemini:call-after-user',
    source: 'error: Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    *breaks(body) {
      const all = contents(body);
      for (const [at, [i, content]] of all.entries())
        if (withKey(content, 'functionCall').length > 0 && all[at - 1]?.[1]['role'] !== 'user')
          yield `contents[${i}] has a call and stands behind ${show(all[at - 1]?.[1]['role'])}`;
    },
  },
  {
    id: 'gemini:responses-alone',
    source:
      'A turn with function responses holds nothing else: with text beside them Gemini 3 ignores the text or refuses (opencode pull request 43479, hermes-agent pull request 68863).',
    *breaks(body) {
      for (const [i, content] of contents(body)) {
        const responses = withKey(content, 'functionResponse').length;
        if (responses > 0 && responses !== parts(content).length) yield `contents[${i}] has responses and other parts`;
      }
    },
  },
  {
    id: 'gemini:alternation',
    source:
      'error: Please ensure that multiturn requests alternate between user and model. (A user turn behind function responses is one of its own.)',
    *breaks(body) {
      const all = contents(body);
      for (const [at, [i, { role }]] of all.entries()) {
        const before = all[at - 1]?.[1];
        if (before !== undefined && before['role'] === role && withKey(before, 'functionResponse').length === 0)
          yield `contents[${i}].role is ${show(role)} again`;
      }
    },
  },
  {
    id: 'gemini:signature',
    source:
      'error: Function call is missing a thought_signature in functionCall parts. Docs, Thought signatures: with Gemini 3 the first functionCall part of each step of the current turn must have it.',
    *breaks(body, model) {
      if (!/gemini-3/.test(model)) return;
      const all = contents(body);
      const turn = all.findLastIndex(([, content]) => content['role'] === 'user' && withKey(content, 'text').length > 0);
      for (const [i, content] of all.slice(turn + 1)) {
        const first = withKey(content, 'functionCall')[0];
        if (first && !first[1]['thoughtSignature']) yield `contents[${i}].parts[${first[0]}] has no thoughtSignature`;
      }
    },
  },
  {
    id: 'gemini:real-signature',
    source:
      'Docs, Thought signatures: the value that skips the validator is for calls that the model did not make, and with it the model reasons worse. So a call of the model must keep the signature that it came with.',
    *breaks(body) {
      for (const [i, content] of contents(body))
        for (const [j, part] of withKey(content, 'functionCall'))
          if (part['thoughtSignature'] === 'skip_thought_signature_validator')
            yield `contents[${i}].parts[${j}] has the value that skips the validator`;
    },
  },
  {
    id: 'gemini:response-object',
    source:
      "error: Invalid value at 'contents[2].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct)",
    *breaks(body) {
      for (const [i, content] of contents(body))
        for (const [j, part] of withKey(content, 'functionResponse')) {
          const response = asObject(part['functionResponse']);
          if (!asObject(response?.['response']))
            yield `contents[${i}].parts[${j}].functionResponse.response is ${show(response?.['response'])}`;
          if (!response?.['name']) yield `contents[${i}].parts[${j}].functionResponse has no name`;
        }
    },
  },
];
