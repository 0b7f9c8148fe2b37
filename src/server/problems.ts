/** Answers every error with an RFC 9457 problem. Two tables map error codes to HTTP statuses. */
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { defined } from '../core/defined.ts';
import type { Problem } from '../wire/api.ts';
import { EarpieceError, GONE, isGone, type ErrorCode } from '../core/errors.ts';

type Row = { readonly status: ContentfulStatusCode; readonly title: string };

export const STATUS = {
  bad_address: { status: 400, title: 'The address is invalid' },
  bad_notification: { status: 400, title: 'The notification is invalid' },
  bad_event: { status: 400, title: 'The event is invalid' },
  bad_subscriber: { status: 400, title: 'The subscriber is invalid' },
  bad_config: { status: 400, title: 'The configuration is invalid' },
  bad_argument: { status: 400, title: 'The request is invalid' },
  bad_frame: { status: 400, title: 'The body is invalid' },
  not_found: { status: 404, title: 'The named thing does not exist' },
  conflict: { status: 409, title: 'The thing has changed since you read it, or does not allow this change' },
  nobody_there: { status: 409, title: 'No conversation can receive the notification' },
  not_trusted: { status: 403, title: 'Not trusted' },
  store_unavailable: { status: 503, title: 'The store cannot be reached' },
  store_refused: { status: 409, title: 'The store refuses the operation' },
  store_corrupt: { status: 500, title: 'The store is damaged' },
  store_full: { status: 507, title: 'The store is full' },
  upstream: { status: 502, title: 'Another server failed' },
  timeout: { status: 504, title: 'The operation took too long' },
} as const satisfies Record<ErrorCode, Row>;

/** The error codes that only a server uses. */
export const OF_SERVER = {
  unauthorized: { status: 401, title: 'A valid token or signature is required' },
  forbidden: { status: 403, title: 'The token does not allow this request' },
  bad_host: { status: 421, title: 'Not a name of this server' },
  bad_origin: { status: 403, title: 'A page of another site may not use this server' },
  token_in_url: { status: 400, title: 'A token must not be in a URL' },
  no_such_route: { status: 404, title: 'Nothing exists at this URL' },
  method_not_allowed: { status: 405, title: 'This method is not allowed' },
  too_large: { status: 413, title: 'Too large' },
  unsupported_media_type: { status: 415, title: 'Not JSON' },
  rate_limited: { status: 429, title: 'Too many requests' },
  too_many_streams: { status: 503, title: 'Too many streams' },
  webhook_not_ready: { status: 503, title: 'The webhook cannot receive yet' },
  outdated: { status: 503, title: 'Earpiece was upgraded or removed while the server ran' },
  stopping: { status: 503, title: 'The server is stopping' },
  internal: { status: 500, title: 'Something unexpected happened' },
} as const satisfies Record<string, Row>;

export type ServerCode = keyof typeof OF_SERVER;
export type ProblemCode = ErrorCode | ServerCode;

/** An error of a route or a guard. `headers` are added to the answer. */
export class ProblemError extends Error {
  readonly code: ProblemCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly field: string | undefined;

  constructor(code: ProblemCode, detail: string, more: { headers?: Record<string, string>; field?: string } = {}) {
    super(detail);
    this.code = code;
    this.headers = more.headers ?? {};
    this.field = more.field;
  }
}

export const rowOf = (code: ProblemCode): Row => ({ ...STATUS, ...OF_SERVER })[code];

type Told = {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly field?: string | undefined;
  readonly retryable?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Converts an error to the parts of a problem. `body` is the body of the request, if it is known. */
export function toldOf(error: unknown, body = ''): Told {
  if (error instanceof ProblemError)
    return { code: error.code, detail: error.message, field: error.field, headers: error.headers };
  if (error instanceof EarpieceError) {
    const { field } = error.data;
    return {
      code: error.code,
      detail: error.message,
      ...(typeof field === 'string' ? { field } : {}),
      ...(error.retryable ? { retryable: true } : {}),
    };
  }
  if (error instanceof HTTPException) {
    if (error.status === 415)
      return {
        code: 'unsupported_media_type',
        detail: 'the body is not declared as JSON; send Content-Type: application/json',
      };
    if (error.status < 500) return { code: 'bad_argument', detail: `the body is not valid JSON${beginning(body)}` };
  }
  if (isGone(error)) return { code: 'outdated', detail: GONE };
  return { code: 'internal', detail: 'something unexpected happened; the server logged the details under this instance' };
}

export const beginning = (body: string): string =>
  body === '' ? ': it is empty' : `; it begins with ${JSON.stringify(body.slice(0, 40))}`;

/**
 * Makes the answer to an error. `given` is the body of the request, if it is known. `at` is the id of the answer. A person finds
 * the line in the server's log by this id.
 */
export function problemResponse(error: unknown, at: string, given?: string): Response {
  const { code, detail, field, retryable, headers } = toldOf(error, given);
  const { status, title } = rowOf(code);
  const body: Problem = {
    type: `urn:earpiece:problem:${code}`,
    title,
    status,
    detail,
    code,
    instance: `urn:earpiece:answer:${at}`,
    ...defined({ field }),
    ...(retryable || status === 429 || status === 503 ? { retryable: true } : {}),
  };
  return Response.json(body, {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(code === 'unauthorized' ? { 'www-authenticate': 'Bearer realm="earpiece"' } : {}),
      ...headers,
    },
  });
}
