/** Creates, lists and revokes tokens, for admins only. */
import type { CreatedToken, Page, TokenInfo } from '../../wire/api.ts';
import { mustBeAdmin } from '../authority.ts';
import { answers, createRoute, jsonBody, reply, z, type Api, type Deps } from '../context.ts';
import { principalOf } from '../guards.ts';
import { ProblemError } from '../problems.ts';
import { createdToken, given, tokenInput, tokensPage } from '../../wire/schemas.ts';

export function tokenRoutes(api: Api, { tokens }: Deps): void {
  api.openapi(
    createRoute({
      method: 'get',
      path: '/api/tokens',
      operationId: 'listTokens',
      tags: ['tokens'],
      summary: 'List tokens and sessions, without secrets',
      responses: answers(tokensPage, 'tokens'),
    }),
    async (c) => {
      mustBeAdmin(principalOf(c), 'listing tokens');
      return reply<Page<TokenInfo>>(c, { items: await tokens.list(), next: null });
    },
  );
  api.openapi(
    createRoute({
      method: 'post',
      path: '/api/tokens',
      operationId: 'createToken',
      tags: ['tokens'],
      summary: 'Create a token, which is shown only once',
      request: { body: jsonBody(tokenInput) },
      responses: answers(createdToken, 'the token', 201),
    }),
    async (c) => {
      mustBeAdmin(principalOf(c), 'making tokens');
      return reply<CreatedToken>(c, await tokens.create(given(c.req.valid('json'))), 201);
    },
  );
  api.openapi(
    createRoute({
      method: 'delete',
      path: '/api/tokens/{id}',
      operationId: 'revokeToken',
      tags: ['tokens'],
      summary: 'Revoke a token: the token, its sessions and its streams end at once',
      request: { params: z.object({ id: z.string().min(1).max(64) }) },
      responses: answers(z.object({ id: z.string(), revoked: z.boolean() }).openapi('Revoked'), 'revoked'),
    }),
    async (c) => {
      mustBeAdmin(principalOf(c), 'revoking tokens');
      const { id } = c.req.valid('param');
      if (!(await tokens.revoke(id)))
        throw new ProblemError('not_found', `no token ${JSON.stringify(id.slice(0, 80))}; GET /api/tokens lists the tokens`);
      return reply(c, { id, revoked: true });
    },
  );
}
