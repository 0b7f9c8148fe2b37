/** Queues a request repeated with the same `Idempotency-Key` only once: the key is the id. */
import type { RouteConfig } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { LIMITS } from '../core/notification.ts';
import type { Env } from './context.ts';
import { ProblemError } from './problems.ts';

/** For the API document: add it to a route. */
export const idempotency: { parameters: NonNullable<RouteConfig['parameters']> } = {
  parameters: [
    {
      name: 'idempotency-key',
      in: 'header',
      required: false,
      description: 'a second request with the same key is queued once',
      schema: { type: 'string', maxLength: LIMITS.idChars },
    },
  ],
};

/** Read directly: a schema would make Hono read all headers, which costs as much as the schema of the body. */
export function idempotencyKey(c: Context<Env>): string | undefined {
  const key = c.req.header('idempotency-key');
  if (key !== undefined && key.length > LIMITS.idChars)
    throw new ProblemError(
      'bad_argument',
      `the header: idempotency-key has ${key.length} characters, at most ${LIMITS.idChars} are allowed`,
      { field: 'idempotency-key' },
    );
  return key;
}
