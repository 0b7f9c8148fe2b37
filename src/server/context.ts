/** Defines the types and helpers that all routes share: the context of a request, entries of the API document, and parameters. */
import { createRoute, z, type OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Emitter } from '../core/event.ts';
import type { Config } from '../config/index.ts';
import type { ConfigWriter } from '../config/change.ts';
import type { Address } from '../core/address.ts';
import type { ShellInfo } from '../wire/api.ts';
import type { NotificationInput } from '../core/notification.ts';
import type { Inbox, Queued } from '../inbox/index.ts';
import type { Bus, SubscriberToggles } from '../bus/index.ts';
import type { WebhookReceiver } from '../sources/webhooks/index.ts';
import { JsonAnswer, type Bindings } from './answer.ts';
import { ProblemError } from './problems.ts';
import { problem } from '../wire/schemas.ts';
import type { Metrics } from './metrics.ts';
import type { Telemetry } from './telemetry.ts';
import type { Sessions } from './sessions.ts';
import type { Hub } from './stream/hub.ts';
import type { Principal, Tokens } from './tokens.ts';

export type Env = {
  Bindings: Bindings;
  Variables: {
    /** The id of the answer. Problems and the server's log contain this id. */
    answer: string;
    /** The caller, which the guards set on every route that is not public. */
    who: Principal;
    address: string;
    /** Whether the route has set headers. */
    headers: true | undefined;
  };
};
export type Api = OpenAPIHono<Env>;

export type Deps = {
  readonly inbox: Inbox;
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly hub: Hub;
  readonly metrics: Metrics;
  readonly telemetry: Telemetry;
  /** Queues a notification, and updates the metrics and traces. */
  readonly queue: (to: string | Address, input: NotificationInput) => Promise<Queued>;
  /** The project of the server's working folder. */
  readonly project: string;
  readonly version: string;
  readonly shell: () => ShellInfo;
  readonly config: (() => Config) | undefined;
  readonly configWriter: ConfigWriter | undefined;
  readonly emitter: Emitter | undefined;
  /** Returns the current subscribers of a project, and previews the notification of a subscriber. */
  readonly bus: Pick<Bus, 'subscribers' | 'preview'> | undefined;
  readonly toggles: SubscriberToggles | undefined;
  /** Reports trouble to the person who runs the server. */
  readonly report: (line: string) => void;
  /** Returns the current webhooks, by name. A webhook that is configured, but cannot receive yet, is undefined. */
  readonly webhooks: () => ReadonlyMap<string, WebhookReceiver | undefined>;
};

const problemContent = { 'application/problem+json': { schema: problem } };
const PROBLEMS = {
  400: { description: 'the request is invalid', content: problemContent },
  401: { description: 'the token is missing or not valid', content: problemContent },
  403: { description: 'the token does not allow this request', content: problemContent },
  404: { description: 'the named thing does not exist', content: problemContent },
  429: { description: 'too many requests; try again after the seconds in Retry-After', content: problemContent },
  503: { description: 'the server cannot answer this request now; try again', content: problemContent },
} as const;

/** The entries in the API document for a route whose body has its own formats and limits. */
export const OF_BODIES = {
  413: { description: 'the body is too large', content: problemContent },
  415: { description: 'the body is compressed, or its content type does not fit', content: problemContent },
} as const;

/** Makes the entry in the API document for a route that answers with JSON of this shape. */
export const answers = <S extends z.ZodType, const Status extends 200 | 201 = 200>(
  schema: S,
  description: string,
  status: Status = 200 as Status,
): typeof PROBLEMS & Record<Status, { description: string; content: { 'application/json': { schema: S } } }> =>
  ({ ...PROBLEMS, [status]: { description, content: { 'application/json': { schema } } } }) as never;

export const jsonBody = <S extends z.ZodType>(schema: S): { required: true; content: { 'application/json': { schema: S } } } => ({
  required: true,
  content: { 'application/json': { schema } },
});

/**
 * Makes the answer of a route. The type of the body is a readonly type from `wire/api.ts`, because the types of the schemas would
 * demand mutable arrays.
 */
// oxlint-disable-next-line typescript/no-explicit-any, typescript/no-unnecessary-type-parameters -- any stands for the typed response of any route; the caller names T
export const reply = <T>(c: Context<Env>, body: T, status: 200 | 201 = 200): any =>
  c.env?.direct && c.get('headers') === undefined ? new JsonAnswer(body, status) : c.json(body as never, status);

export { createRoute, z };

export const limitQuery = (max: number, fallback: number) =>
  z.coerce
    .number()
    .int()
    .min(1)
    .max(max)
    .default(fallback)
    .openapi({ description: `maximum number of entries, up to ${max}` });

export const seqQuery = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
export const flag = z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1');

/**
 * Describes a name or an id in a path. The client puts a space before a value that a path cannot contain (`.`, `..`) or that
 * equals the name of a route. No name or id begins with a space.
 */
export const inPath = (max: number) =>
  z
    .string()
    .transform((text) => text.replace(/^ /u, ''))
    .pipe(z.string().min(1).max(max))
    .openapi({
      type: 'string',
      minLength: 1,
      description: 'with a space before it if it is `.`, `..` or the name of a route',
    });

export const timeQuery = {
  from: seqQuery.optional().openapi({ description: 'epoch milliseconds, inclusive' }),
  to: seqQuery.optional().openapi({ description: 'epoch milliseconds, exclusive' }),
};

/** Makes the error for an end that is not after the beginning. A query contains times as numbers, but the error shows dates. */
export function notBefore(from: number, to: number): ProblemError {
  const says = (at: number): string => (at > LAST_TIME ? String(at) : new Date(at).toISOString());
  return new ProblemError('bad_argument', `from must be before to, got from ${says(from)} and to ${says(to)}`, { field: 'from' });
}
const LAST_TIME = 8.64e15;

/** Returns the period of a request, with defaults for a missing end. Throws if the end is not after the beginning. */
export function timesOf(from = 0, to = Number.MAX_SAFE_INTEGER): { readonly from: number; readonly to: number } {
  if (from >= to) throw notBefore(from, to);
  return { from, to };
}
