/**
 * Writes the answer of a route to the socket. A `Response` turns its text into a stream, which the HTTP adapter then reads. For a
 * queued notification, this conversion takes longer than the write to the log. So for this server's listener (`direct`), a JSON
 * answer is a `JsonAnswer`, which the listener writes in one step. A JSON answer whose route sets headers stays a `Response`. Any
 * other caller of `app.fetch` gets a `Response`.
 */
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';

/** The HTTP adapter's data about a request. Another listener may omit some of this data. */
export type Bindings = Partial<HttpBindings> & { readonly direct?: true };

/** The page may load files only from this server, runs no inline script, and is not shown in frames. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every answer, including errors and files. */
const ALWAYS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
} as const;

/** A JSON answer with the members of a `Response` that Hono reads. */
export class JsonAnswer {
  readonly status: number;
  readonly body: string;
  headers: Readonly<Record<string, string>> = {};

  constructor(body: unknown, status: number) {
    this.body = JSON.stringify(body);
    this.status = status;
  }
}

/** Adds the headers that every HTTP answer needs. `id` becomes `x-request-id`. */
export function complete(answer: Response | JsonAnswer, id: string): void {
  if (answer instanceof JsonAnswer) {
    answer.headers = { ...ALWAYS, 'cache-control': 'no-store', 'content-type': 'application/json', 'x-request-id': id };
    return;
  }
  const { headers } = answer;
  for (const [name, value] of Object.entries(ALWAYS)) headers.set(name, value);
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store');
  headers.set('x-request-id', id);
}

/** Writes a `JsonAnswer` to the socket; returns any other answer unchanged. */
export function written(answer: Response, outgoing: HttpBindings['outgoing']): Response {
  // The type is `Response`, because Hono expects that type from routes.
  const { status, headers, body } = answer as object as JsonAnswer;
  if (!((answer as object) instanceof JsonAnswer)) return answer;
  outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  outgoing.end(body);
  return RESPONSE_ALREADY_SENT;
}
