/** Serves the server's health, its metrics and the API document. */
import type { Health } from '../../wire/api.ts';
import { mustBeAdmin } from '../authority.ts';
import { createRoute, reply, z, type Api, type Deps } from '../context.ts';
import { principalOf } from '../guards.ts';
import { health, problem } from '../../wire/schemas.ts';

export const documentOf = (api: Api, version: string): object =>
  api.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Earpiece',
      version,
      description:
        'Durable notifications for LLM agents. Times are epoch milliseconds. Errors are answered as application/problem+json (RFC 9457).',
      license: { name: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { cookie: [] }],
  });

export function metaRoutes(api: Api, deps: Deps): void {
  const { inbox, hub, metrics, version } = deps;
  const startedAt = performance.now();
  api.openAPIRegistry.registerComponent('securitySchemes', 'token', {
    type: 'http',
    scheme: 'bearer',
    description: 'create a token with: earpiece token create',
  });
  api.openAPIRegistry.registerComponent('securitySchemes', 'cookie', {
    type: 'apiKey',
    in: 'cookie',
    name: 'earpiece_<port>',
    description: 'a browser that has logged in; changes also need the header x-earpiece: 1',
  });

  api.openapi(
    createRoute({
      method: 'get',
      path: '/healthz',
      operationId: 'health',
      tags: ['server'],
      summary: 'Check the health of the server, without a token',
      security: [],
      responses: {
        200: { description: 'the server and the store work', content: { 'application/json': { schema: health } } },
        503: { description: 'the store cannot be reached', content: { 'application/json': { schema: health } } },
      },
    }),
    async (c) => {
      try {
        await inbox.store.head({ withinMs: 1_000 });
        return reply<Health>(c, { status: 'ok', version });
      } catch {
        return c.json({ status: 'store_unavailable', version }, 503) as never;
      }
    },
  );
  api.openapi(
    createRoute({
      method: 'get',
      path: '/metrics',
      operationId: 'metrics',
      tags: ['server'],
      summary: 'Read the metrics, for Prometheus',
      responses: {
        200: { description: 'Prometheus text', content: { 'text/plain': { schema: z.string() } } },
        401: { description: 'no token', content: { 'application/problem+json': { schema: problem } } },
        403: { description: 'the token is not an admin token', content: { 'application/problem+json': { schema: problem } } },
      },
    }),
    async (c) => {
      mustBeAdmin(principalOf(c), 'reading metrics');
      await hub.watch();
      const text = metrics.text({
        earpiece_streams: hub.size,
        earpiece_store_head: await inbox.store.head(),
        earpiece_up_seconds: Math.round((performance.now() - startedAt) / 1_000),
      });
      return c.body(text, 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }) as never;
    },
  );
  api.openapi(
    createRoute({
      method: 'get',
      path: '/openapi.json',
      operationId: 'openapi',
      tags: ['server'],
      summary: 'Read this document',
      security: [],
      responses: { 200: { description: 'OpenAPI 3.1', content: { 'application/json': { schema: z.looseObject({}) } } } },
    }),
    // The document is made for each request, so it includes routes that were added after this one, such as the routes of tasks.
    (c) => c.json(documentOf(api, version) as never, 200) as never,
  );
}
