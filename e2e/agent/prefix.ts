/** Checks that each request begins with the previous request, part by part, as a provider's cache compares them. */
import { asList, isObject, type Json, type JsonObject } from '../model/json.ts';
import type { Recorded } from '../model/tap.ts';
import { messagesOf } from '../model/texts.ts';

/** A part of an earlier request that a later request changed. `at -1` means the fields next to the messages. */
export type Changed = {
  readonly from: number;
  readonly to: number;
  readonly at: number;
  readonly was: string;
  readonly is: string;
};

/**
 * Returns the parts that the model reads, in order, one text for each. Each part of a message counts separately. The Anthropic
 * package puts a following text into the previous user message, which changes nothing that the model read before.
 */
export function partsOf(body: JsonObject | undefined): readonly string[] {
  return messagesOf(body).flatMap((message) => {
    const { role, content, parts, ...rest } = message;
    const list = asList(content) ?? asList(parts);
    const lone = typeof content === 'string' && Object.keys(rest).length === 0;
    if (lone) return [text({ role, part: { type: 'text', text: content } })];
    return list && Object.keys(rest).length === 0 ? list.map((part) => text({ role, part })) : [text(message)];
  });
}

export function changes(requests: readonly Pick<Recorded, 'body'>[]): readonly Changed[] {
  return requests.slice(1).flatMap((request, from) => {
    const before = requests[from]?.body;
    const was = [frameOf(before), ...partsOf(before)];
    const is = [frameOf(request.body), ...partsOf(request.body)];
    return was.flatMap((part, i) =>
      part === is[i] ? [] : [{ from, to: from + 1, at: i - 1, was: part, is: is[i] ?? '(gone)' }],
    );
  });
}

const frameOf = (body: JsonObject | undefined): string => {
  const { messages: _messages, input: _input, contents: _contents, ...frame } = body ?? {};
  return text(frame);
};

// A cache mark is not part of the cached text.
const text = (value: Json): string => JSON.stringify(withoutCacheControl(value));

function withoutCacheControl(value: Json): Json {
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, item]) =>
        key === 'cache_control' || item === undefined ? [] : [[key, withoutCacheControl(item)]],
      ),
    );
  return asList(value)?.map(withoutCacheControl) ?? value;
}
