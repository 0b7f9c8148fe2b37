import { IncompleteAnswer } from './answer.ts';

/** The class of a failed request: whether and when to retry the request. */
export type Failure =
  /** `rateLimited`: the provider refused the request because of its rate (429). */
  | { readonly kind: 'retry'; readonly afterMs: number | undefined; readonly why: string; readonly rateLimited?: true }
  /**
   * The provider refuses the content: the status is 4xx, and the cause is neither the key nor the rate. `tooLong`: the prompt is
   * too long.
   */
  | { readonly kind: 'refused'; readonly why: string; readonly tooLong?: true }
  | { readonly kind: 'final'; readonly why: string };

/**
 * Returns whether a failed request to the model may be repeated. Rate limits, overload, timeouts and broken connections are
 * temporary. Errors about keys, quotas and content are permanent.
 */
export function failureOf(error: unknown): Failure {
  const { statusCode, responseHeaders, responseBody, message } = shapeOf(error);
  const why = `${statusCode === undefined ? '' : `${statusCode}: `}${message}`;
  if (/insufficient_quota|billing|credit balance/i.test(`${message} ${responseBody}`)) return { kind: 'final', why };
  if (statusCode === undefined) {
    const passing =
      error instanceof IncompleteAnswer ||
      /fetch failed|ECONN|EPIPE|ETIMEDOUT|socket|terminated|timeout|network|overloaded/i.test(`${message} ${causeOf(error)}`);
    return passing ? { kind: 'retry', afterMs: undefined, why } : { kind: 'final', why };
  }
  if (statusCode === 408 || statusCode === 409 || statusCode === 429 || statusCode >= 500)
    return {
      kind: 'retry',
      afterMs: retryAfter(responseHeaders),
      why,
      ...(statusCode === 429 ? { rateLimited: true as const } : {}),
    };
  if (statusCode === 401 || statusCode === 403 || statusCode === 404) return { kind: 'final', why };
  const tooLong = statusCode === 413 || TOO_LONG.test(`${message} ${responseBody}`);
  return { kind: 'refused', why, ...(tooLong ? { tooLong: true as const } : {}) };
}

/** Matches the messages of providers about a prompt that is too long: Anthropic, OpenAI, Gemini, vLLM, llama.cpp, Ollama. */
const TOO_LONG =
  /too (long|large|many tokens)|context[ _](length|window|size)|maximum (context|prompt)|token (count|limit)|exceeds? .{0,40}(tokens|limit)|request_too_large/i;

/**
 * Returns the delay before a retry, in milliseconds. `attempt` counts from 1. The delay doubles from 500 ms to 30 s, and `chance`
 * changes it by up to an eighth.
 */
export function backoffMs(attempt: number, chance: number): number {
  const base = Math.min(30_000, 500 * 2 ** (attempt - 1));
  return Math.round(base * (0.875 + 0.25 * chance));
}

function retryAfter(headers: Readonly<Record<string, string>> | undefined): number | undefined {
  const ms = Number(headers?.['retry-after-ms']);
  if (Number.isFinite(ms) && ms > 0) return ms;
  const value = headers?.['retry-after'];
  if (value === undefined) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

type Shape = { statusCode?: number; responseHeaders?: Record<string, string>; responseBody: string; message: string };

function shapeOf(error: unknown): Shape {
  if (typeof error !== 'object' || error === null) return { message: String(error), responseBody: '' };
  const { statusCode, responseHeaders, responseBody, message } = error as {
    statusCode?: unknown;
    responseHeaders?: unknown;
    responseBody?: unknown;
    message?: unknown;
  };
  return {
    ...(typeof statusCode === 'number' ? { statusCode } : {}),
    ...(typeof responseHeaders === 'object' && responseHeaders !== null
      ? { responseHeaders: responseHeaders as Record<string, string> }
      : {}),
    responseBody: typeof responseBody === 'string' ? responseBody : '',
    message: typeof message === 'string' ? message : JSON.stringify(error),
  };
}

const causeOf = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? `${cause.message} ${(cause as NodeJS.ErrnoException).code ?? ''}` : '';
};
