/** Whether each request begins with what had been sent before, part by part: what a provider's cache sees. */
import { asList, isObject, type Json, type JsonObject } from '../model/json.ts';
import type { Recorded } from '../model/tap.ts';
import { messagesOf } from '../model/texts.ts';

/** A part of an earlier request that a later one has otherwise; `at -1` is all that stands beside the messages. */
export type Changed = {
  readonly from: number;
  readonly to: number;
  readonly at: number;
  readonly was: string;
  readonly is: string;
};

/**
 * What the model reads in order, one text a part. A message is its parts: the Anthropic package puts what stands behind a
 * user message into that message, which changes nothing of what was read before it.
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

// Where the cache ends is no part of what is cached.
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
