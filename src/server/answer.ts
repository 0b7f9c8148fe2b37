/**
 * What a route answers, on its way to the socket. A `Response` turns its text into a stream that the adapter then reads back:
 * that cost a queue over HTTP more than its place in the log. So where our own listener asks (`direct`), an answer of JSON
 * is this instead, and the listener writes it in one go. Whoever asks `app.fetch` from elsewhere is given a `Response`.
 */
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';

/** What the listener gives along with a request. Another one gives what it has. */
export type Bindings = Partial<HttpBindings> & { readonly direct?: true };

/** The page may load from here and nowhere else, runs no inline script and is shown in no frame. */
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

/** On every answer, whoever made it. */
const ALWAYS = {
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
} as const;

/** As much of a `Response` as Hono looks at. */
export class JsonAnswer {
  readonly status: number;
  readonly body: string;
  headers: Readonly<Record<string, string>> = {};

  constructor(body: unknown, status: number) {
    this.body = JSON.stringify(body);
    this.status = status;
  }
}

/** The headers that each answer has; `id` names it. */
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

/** Written, where it is one of ours. */
export function written(answer: Response, outgoing: HttpBindings['outgoing']): Response {
  // Whatever its type says: routes hand it on as what Hono expects.
  const { status, headers, body } = answer as object as JsonAnswer;
  if (!((answer as object) instanceof JsonAnswer)) return answer;
  outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  outgoing.end(body);
  return RESPONSE_ALREADY_SENT;
}
