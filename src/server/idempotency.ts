/** Reads the header `Idempotency-Key`, with which a repeated request queues only one notification or creates only one task. */
import type { RouteConfig } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { LIMITS } from '../core/notification.ts';
import type { Env } from './context.ts';
import { ProblemError } from './problems.ts';

/** The description of the header in the API document. Each route with this header includes it. */
export const idempotency: { parameters: NonNullable<RouteConfig['parameters']> } = {
  parameters: [
    {
      name: 'idempotency-key',
      in: 'header',
      required: false,
      description: 'two requests with the same key queue one notification or create one task',
      schema: { type: 'string', maxLength: LIMITS.idChars },
    },
  ],
};

/**
 * Returns the key in the header `idempotency-key`, if any. The header is read without a schema, because with a schema Hono reads
 * all headers, which takes as long as checking the body.
 */
export function idempotencyKey(c: Context<Env>): string | undefined {
  const key = c.req.header('idempotency-key');
  if (key !== undefined && key.length > LIMITS.idChars)
    throw new ProblemError(
      'bad_argument',
      `the header idempotency-key has ${key.length} characters, at most ${LIMITS.idChars} are allowed; send a shorter key`,
      { field: 'idempotency-key' },
    );
  return key;
}
