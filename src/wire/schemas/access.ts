/** Tokens, sessions, and whether the server is well. */
import { z } from 'zod';
import { TOKEN_KINDS } from '../words.ts';
import { time, nullable, text, nameParam, page, type Wire } from './base.ts';

const tokenShape = {
  id: z.string(),
  kind: z.enum(TOKEN_KINDS),
  name: z.string(),
  project: nullable(z.string()),
  agent: nullable(z.string()),
  conversation: nullable(z.string()),
  /** A browser that has logged in, not a token for programs. */
  session: z.boolean(),
  createdAt: time,
  lastUsedAt: nullable(time),
  expiresAt: nullable(time),
};
export const token = z.object(tokenShape).openapi('Token');
export type TokenInfo = Wire<typeof token>;
export const tokensPage = page(token).openapi('TokensPage');
export const createdToken = z
  .object({
    ...tokenShape,
    /** Shown this once. */
    token: z.string().openapi({ description: 'shown this once' }),
  })
  .openapi('CreatedToken');
export type CreatedToken = Wire<typeof createdToken>;

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
/** A request for a token. Without `project` or `agent` it is for all of them; without `expiresInMs` it does not expire. */
export type TokenRequest = Wire<typeof tokenInput>;

const shell = z.object({
  /** The command that reaches this log from a terminal on the server's machine, instead of `earpiece`. */
  earpiece: z.string(),
  /** The MCP clients that were found there, under the names that `gateway --print` knows. */
  clients: z.array(z.string()),
});
export type ShellInfo = Wire<typeof shell>;
export const session = z
  .object({
    who: token,
    /** The project of the folder that the server runs in. */
    project: z.string(),
    version: z.string(),
    store: z.string(),
    shell,
    /** The server's time. */
    now: time,
    head: z.number().int(),
  })
  .openapi('Session');
export type SessionReply = Wire<typeof session>;
export const sessionInput = z
  .union([z.strictObject({ code: text(200) }), z.strictObject({ token: text(200) })])
  .openapi('SessionInput');

export const health = z.object({ status: z.enum(['ok', 'store_unavailable']), version: z.string() }).openapi('Health');
export type Health = Wire<typeof health>;
