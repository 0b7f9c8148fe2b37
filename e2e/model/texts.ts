import { asList, asObject, asString, isObject, type Json, type JsonObject } from './json.ts';
import type { Recorded } from './tap.ts';

/** A text that a request gives the model, independent of the wire format. */
export interface Text {
  /** The index in messages, input or contents. -1 is the system prompt, -2 the tool definitions. */
  readonly message: number;
  readonly role: string;
  /** Index of the part in its message. */
  readonly part: number;
  readonly type: string;
  /** Path inside the part. */
  readonly path: string;
  readonly text: string;
  /** The tool result that contains this text. */
  readonly result: Result | null;
}

export interface Result {
  /** The conversation's first tool result is 1. */
  readonly no: number;
  readonly id: string;
  readonly tool: string;
}

/** Returns the list that grows with a conversation: Anthropic and chat `messages`, Responses `input`, Gemini `contents`. */
export function messagesOf(body: JsonObject | undefined): readonly JsonObject[] {
  const list = body?.['messages'] ?? body?.['input'] ?? body?.['contents'];
  if (typeof list === 'string') return [{ role: 'user', content: list }];
  return (asList(list) ?? []).filter(isObject);
}

/** Returns every text that the model reads in this request, in order. */
export function textsOf(request: Recorded): readonly Text[] {
  const body = request.body ?? {};
  const messages = messagesOf(body);
  const tools = toolsByCall(messages);
  const texts: Text[] = [];
  let results = 0;

  const add = (
    place: Pick<Text, 'message' | 'role' | 'part' | 'type'>,
    value: Json | undefined,
    result: Result | null = null,
  ) => {
    for (const leaf of leavesOf(value)) texts.push({ ...place, ...leaf, result });
  };
  const addResult = (
    place: Pick<Text, 'message' | 'role' | 'part' | 'type'>,
    value: Json | undefined,
    id: string,
    tool?: string,
  ) => add(place, value, { no: ++results, id, tool: tool ?? tools.get(id) ?? '' });

  add({ message: -2, role: 'tools', part: 0, type: 'tools' }, body['tools']);
  add(
    { message: -1, role: 'system', part: 0, type: 'system' },
    body['system'] ?? body['instructions'] ?? body['systemInstruction'] ?? body['system_instruction'],
  );
  messages.forEach((message, index) => {
    const type = asString(message['type']) ?? 'message';
    if (type !== 'message') return addItem(message, index, type);
    const role = asString(message['role']) ?? '?';
    const content = message['content'] ?? message['parts'];
    if (role === 'tool')
      return addResult({ message: index, role, part: 0, type: 'tool_result' }, content, asString(message['tool_call_id']) ?? '');
    if (typeof content === 'string') add({ message: index, role, part: 0, type: 'text' }, content);
    (asList(content) ?? []).filter(isObject).forEach((part, at) => addPart(part, { message: index, role, part: at }));
    (asList(message['tool_calls']) ?? []).forEach((call, at) =>
      add({ message: index, role, part: at, type: 'tool_call' }, asObject(asObject(call)?.['function'])?.['arguments']),
    );
  });
  return texts;

  // An item of the Responses format other than a message: a call, its output, reasoning.
  function addItem(item: JsonObject, message: number, type: string): void {
    if (type.endsWith('_output'))
      return addResult({ message, role: 'tool', part: 0, type }, item['output'], asString(item['call_id']) ?? '');
    const value = type === 'reasoning' ? item['summary'] : (item['arguments'] ?? item['input'] ?? item);
    add({ message, role: type === 'reasoning' || type.endsWith('_call') ? 'assistant' : type, part: 0, type }, value);
  }

  function addPart(part: JsonObject, at: Pick<Text, 'message' | 'role' | 'part'>): void {
    const type = asString(part['type']);
    const response = asObject(part['functionResponse']);
    const call = asObject(part['functionCall']);
    if (response)
      addResult(
        { ...at, type: 'functionResponse' },
        response['response'],
        asString(response['id']) ?? '',
        asString(response['name']),
      );
    else if (type === 'tool_result') addResult({ ...at, type }, part['content'], asString(part['tool_use_id']) ?? '');
    else if (call) add({ ...at, type: 'functionCall' }, call['args']);
    else if (type === 'tool_use') add({ ...at, type }, part['input']);
    else add({ ...at, type: type ?? 'text' }, part['text'] ?? part);
  }
}

function toolsByCall(messages: readonly JsonObject[]): ReadonlyMap<string, string> {
  const tools = new Map<string, string>();
  const note = (id: Json | undefined, name: Json | undefined): void => {
    if (typeof id === 'string' && typeof name === 'string') tools.set(id, name);
  };
  for (const message of messages) {
    if (asString(message['type'])?.endsWith('_call')) note(message['call_id'], message['name']);
    for (const call of asList(message['tool_calls']) ?? [])
      note(asObject(call)?.['id'], asObject(asObject(call)?.['function'])?.['name']);
    for (const part of (asList(message['content']) ?? []).filter(isObject))
      if (part['type'] === 'tool_use') note(part['id'], part['name']);
  }
  return tools;
}

function leavesOf(value: Json | undefined, path = ''): { path: string; text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }];
  const entries: [string, Json | undefined][] = isObject(value)
    ? Object.entries(value).filter(([key]) => key !== 'type' || !('text' in value))
    : (asList(value) ?? []).map((item, index) => [String(index), item]);
  return entries.flatMap(([key, item]) => leavesOf(item, path ? `${path}.${key}` : key));
}
