/** Reads the ids and the results of calls from the input of a hook. */
import { defined } from '../core/defined.ts';
import type { CallResult } from '../inbox/index.ts';
import { optionalText, type Input } from './input.ts';

/** Returns the host's id of a call. Qwen Code has two ids, and only `tool_call_id` is the same before and after the tool runs. */
const idOf = (call: Input): string | undefined => optionalText(call, 'tool_call_id') ?? optionalText(call, 'tool_use_id');

export const callOf = (input: Input): { readonly call?: string } => defined({ call: idOf(input) });

/** Returns the results of these calls. Calls without an id or a result are omitted. */
export function resultsOf(calls: unknown, id = idOf): { readonly results?: readonly CallResult[] } {
  if (!Array.isArray(calls)) return {};
  const results = calls.flatMap((each: unknown): CallResult[] => {
    const input = (each ?? {}) as Input;
    const { tool_response: response } = input;
    const call = id(input);
    if (call === undefined || response === undefined || response === null) return [];
    return [{ call, contains: (text) => lettersOf(textsOf(response).join(' ')).includes(lettersOf(text)) }];
  });
  return results.length === 0 ? {} : { results };
}

const textsOf = (value: unknown): readonly string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
};

/** Returns the letters and digits of a text. Hosts escape the other characters in different ways. */
const lettersOf = (text: string): string => text.replaceAll(/&(?:lt|gt|amp|quot|#\d+);/g, '').replaceAll(/[^\p{L}\p{N}]/gu, '');
