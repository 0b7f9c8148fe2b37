/** Tokens, sessions, and whether the server is well. */
import { z } from '@hono/zod-openapi';
import type * as api from '../api.ts';
import { TOKEN_KINDS } from '../api.ts';
import { time, nullable, text, nameParam, next } from './base.ts';

const tokenShape = {
  id: z.string(),
  kind: z.enum(TOKEN_KINDS),
  name: z.string(),
  project: nullable(z.string()),
  agent: nullable(z.string()),
  conversation: nullable(z.string()),
  session: z.boolean(),
  createdAt: time,
  lastUsedAt: nullable(time),
  expiresAt: nullable(time),
};
export const token = z.object(tokenShape).openapi('Token') satisfies z.ZodType<api.TokenInfo>;
export const tokensPage = z.object({ items: z.array(token), next }).openapi('TokensPage') satisfies z.ZodType<
  api.Page<api.TokenInfo>
>;
export const createdToken = z
  .object({ ...tokenShape, token: z.string().openapi({ description: 'shown this once' }) })
  .openapi('CreatedToken') satisfies z.ZodType<api.CreatedToken>;
export const tokenInput = z
  .strictObject({
    kind: z.enum(TOKEN_KINDS),
    name: text(100),
    project: nameParam.optional(),
    agent: nameParam.optional(),
    conversation: nameParam.optional(),
    expiresInMs: z
      .number()
      .int()
      .min(1_000)
      .max(3_650 * 86_400_000)
      .optional(),
  })
  .openapi('TokenInput');

export const session = z
  .object({
    who: token,
    project: z.string(),
    version: z.string(),
    store: z.string(),
    shell: z.object({ earpiece: z.string(), clients: z.array(z.string()) }),
    now: time,
    head: z.number().int(),
  })
  .openapi('Session') satisfies z.ZodType<api.SessionReply>;
export const sessionInput = z
  .union([z.strictObject({ code: text(200) }), z.strictObject({ token: text(200) })])
  .openapi('SessionInput');

export const health = z
  .object({ status: z.enum(['ok', 'store_unavailable']), version: z.string() })
  .openapi('Health') satisfies z.ZodType<api.Health>;
