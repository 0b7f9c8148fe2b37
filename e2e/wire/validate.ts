/** Checks a recorded request against the rules of its path's real API. */
import type { JsonObject } from '../model/json.ts';
import { wireOf, type WireName } from '../model/server.ts';
import { anthropic } from './anthropic.ts';
import { gemini } from './gemini.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';
import { word, type Rule } from './rule.ts';

export const RULES: Readonly<Record<WireName, readonly Rule[]>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic,
  gemini,
};

export type Violation = { readonly rule: string; readonly what: string; readonly source: string };

/**
 * Returns the violations of the API's rules. The list is empty if the request keeps all rules. `except` lists ids of rules that
 * this request breaks on purpose.
 */
export function validate(
  request: { readonly path: string; readonly body: JsonObject | undefined },
  except: readonly string[] = [],
): readonly Violation[] {
  const wire = wireOf(request.path);
  const { body } = request;
  if (body === undefined) return [{ rule: `${wire}:json`, what: 'the body is no JSON object', source: 'any JSON API' }];
  // Gemini has the model in its path.
  const model = /models\/([^:/?]+)/.exec(request.path)?.[1] ?? word(body['model']);
  return RULES[wire].flatMap(({ id, source, breaks }) =>
    except.includes(id) ? [] : [...breaks(body, model)].map((what) => ({ rule: id, what, source })),
  );
}
