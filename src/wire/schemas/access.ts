/** The schemas of tokens, sessions and the server's health. */
import { z } from 'zod';
import { TOKEN_KINDS } from '../words.ts';
import { time, nullable, text, nameParam, page } from './base.ts';

const tokenShape = {
  id: z.string(),
  kind: z.enum(TOKEN_KINDS),
  name: z.string(),
  project: nullable(z.string()),
  agent: nullable(z.string()),
  conversation: nullable(z.string()),
  session: z.boolean().describe('true for a browser that has logged in, false for a token of a program'),
  createdAt: time,
  lastUsedAt: nullable(time),
  expiresAt: nullable(time),
};
export const token = z.object(tokenShape).openapi('Token');
export const tokensPage = page(token).openapi('TokensPage');
export const createdToken = z
  .object({
    ...tokenShape,
    token: z.string().describe('the token itself, which is never shown again'),
  })
  .openapi('CreatedToken');

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

export const shell = z.object({
  earpiece: z.string().describe("the command to use instead of `earpiece` in a terminal on the server's machine"),
  clients: z
    .array(z.string())
    .describe("the MCP clients that are installed on the server's machine, by their names for `gateway --print`"),
});
export const session = z
  .object({
    who: token,
    project: z.string().describe("the token's project; for an admin token, the project of the server's working folder"),
    version: z.string(),
    store: z.string(),
    shell,
    now: time.describe("the server's time, epoch milliseconds"),
    head: z.number().int(),
  })
  .openapi('Session');
export const sessionInput = z
  .union([z.strictObject({ code: text(200) }), z.strictObject({ token: text(200) })])
  .openapi('SessionInput');

export const health = z.object({ status: z.enum(['ok', 'store_unavailable']), version: z.string() }).openapi('Health');
