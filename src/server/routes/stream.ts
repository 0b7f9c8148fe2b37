/** Sends new records as server-sent events. */
import type { HttpBindings } from '@hono/node-server';
import { conversationId } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { recordTypesProblem } from '../../core/record-types.ts';
import { scopeOf } from '../authority.ts';
import { createRoute, seqQuery, z, type Api, type Deps } from '../context.ts';
import { principalOf } from '../guards.ts';
import { ProblemError } from '../problems.ts';
import { logParam, nameParam, problem } from '../../wire/schemas.ts';

export function streamRoutes(api: Api, { hub }: Deps): void {
  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/stream',
      operationId: 'streamRecords',
      tags: ['stream'],
      summary: 'Stream records as they are written (server-sent events), resumable without gap or repeat',
      description:
        'Each `record` event has the position as its id and {seq, log, at, body} as its data. The first event, `ready`, has the position where the ' +
        'stream begins. A client that reconnects with Last-Event-ID gets all records after that position.',
      request: {
        query: z.strictObject({
          log: logParam.optional(),
          project: nameParam.optional(),
          conversation: nameParam.optional(),
          types: z
            .string()
            .max(4_000)
            .transform((text) => text.split(',').filter(Boolean))
            .superRefine((types, context) => {
              const problem = recordTypesProblem(types);
              if (problem !== undefined) context.addIssue(problem);
            })
            .optional()
            .openapi({ type: 'string', description: 'only records of these types, separated by commas' }),
          after: seqQuery
            .optional()
            .openapi({ description: 'first sends all records after this position; Last-Event-ID has priority' }),
        }),
        headers: z.object({ 'last-event-id': z.string().max(40).optional() }),
      },
      responses: {
        200: { description: 'an event stream that does not end', content: { 'text/event-stream': { schema: z.string() } } },
        400: { description: 'the request is invalid', content: { 'application/problem+json': { schema: problem } } },
        401: { description: 'the token is missing or not valid', content: { 'application/problem+json': { schema: problem } } },
        403: {
          description: 'the token does not allow this request',
          content: { 'application/problem+json': { schema: problem } },
        },
        429: { description: 'too many requests', content: { 'application/problem+json': { schema: problem } } },
        503: {
          description: 'the server cannot open a stream now; try again',
          content: { 'application/problem+json': { schema: problem } },
        },
      },
    }),
    async (c) => {
      const { types, after, ...asked } = c.req.valid('query');
      const who = principalOf(c);
      const scope = scopeOf(who, asked);
      if (scope.conversation !== undefined) conversationId(scope.conversation);
      const lastId = c.req.valid('header')['last-event-id'];
      if (lastId !== undefined && !/^\d{1,15}$/u.test(lastId))
        throw new ProblemError(
          'bad_argument',
          `Last-Event-ID ${JSON.stringify(lastId)} is not a valid position; leave the header out to begin with new records`,
        );
      if (hub.stopped)
        throw new ProblemError('stopping', 'the server is stopping; reconnect', { headers: { 'retry-after': '1' } });
      hub.mustHavePlace(who);
      const headers = {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
      };
      // A HEAD request gets no stream, because its client would never end the stream.
      if (c.req.method === 'HEAD') return c.body(null, 200, headers) as never;
      const from = lastId === undefined ? after : Number(lastId);
      const { outgoing } = (c.env ?? {}) as Partial<HttpBindings>;
      const body = await hub.open(who, { ...scope, after: from, ...defined({ types }) }, outgoing && (() => outgoing.destroy()));
      return c.body(body, 200, headers) as never;
    },
  );
}
