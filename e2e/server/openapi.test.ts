/**
 * Tests that the API document is valid, complete and correct, and sufficient for a generated client. `--update` updates
 * `docs/server.md`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
// @ts-expect-error -- the package has no types
import SwaggerClient from 'swagger-client';
import { expect, it } from 'vitest';
import type { z } from 'zod';
import { verifies } from '../verifies.ts';
import { Stage } from './stage.ts';

const PAGE = join(import.meta.dirname, '../../docs/server.md');

type Operation = {
  readonly operationId?: string;
  readonly summary?: string;
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema?: object }>> }>>;
};
/** The result of swagger-client, which has no types. */
type Generated = {
  readonly errors: readonly unknown[];
  readonly apis: Readonly<
    Record<string, Readonly<Record<string, (parameters: object, more: object) => Promise<{ status: number; body: unknown }>>>>
  >;
};
type Document = { readonly openapi: string; readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

const documentOf = async (stage: Stage): Promise<Document> => (await (await stage.raw('/openapi.json')).json()) as Document;

verifies('server:openapi', 'the document validates as OpenAPI 3.1', async () => {
  await using stage = await Stage.open({ db: 'memory:' });
  const validator = new Validator();
  const result = await validator.validate((await documentOf(stage)) as object as Record<string, unknown>);
  expect(result).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
});

verifies('server:openapi', 'the document has every route of the code, and no other route', async () => {
  await using stage = await Stage.open({ db: 'memory:' });
  const { paths } = await documentOf(stage);
  const told = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const routes = stage.server.app.routes
    .filter(({ method, path }) => method !== 'ALL' && path !== '*' && path !== '/*')
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/gu, '{$1}')}`);
  expect(told.toSorted()).toEqual([...new Set(routes)].toSorted());
  expect(told.length).toBeGreaterThan(25);
});

it('the document names the answers to a body that is too large or of another type', async () => {
  await using stage = await Stage.open({ db: 'memory:' });
  const { paths } = await documentOf(stage);
  for (const path of ['/api/events', '/api/webhooks/{name}'])
    expect(Object.keys(paths[path]?.['post']?.responses ?? {})).toEqual(expect.arrayContaining(['413', '415']));
});

it('docs/server.md lists every route', async () => {
  await using stage = await Stage.open({ db: 'memory:' });
  const { paths } = await documentOf(stage);
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { summary = '' }]) => `| \`${method.toUpperCase()} ${path}\` | ${summary} |`),
  );
  const [before, rest = ''] = readFileSync(PAGE, 'utf8').split('<!-- routes -->');
  const after = rest.split('<!-- end of routes -->')[1] ?? '';
  const list = ['| route | what |', '|---|---|', ...rows].join('\n');
  await expect(`${before}<!-- routes -->\n\n${list}\n\n<!-- end of routes -->${after}`).toMatchFileSnapshot(PAGE);
});

it('each operation has a unique name, a sentence, and its answers', async () => {
  await using stage = await Stage.open({ db: 'memory:' });
  const { paths } = await documentOf(stage);
  const operations = Object.values(paths).flatMap((each) => Object.values(each));
  const names = operations.map(({ operationId }) => operationId);
  expect(new Set(names).size).toBe(names.length);
  for (const { summary, responses } of operations) {
    expect(summary?.length).toBeGreaterThan(5);
    expect(Object.keys(responses).some((status) => status.startsWith('2'))).toBe(true);
  }
});

verifies('server:openapi', 'a generated client queues, lists, explains and withdraws', async () => {
  await using stage = await Stage.open();
  const made = (await SwaggerClient({
    url: `${stage.at.url}/openapi.json`,
    authorizations: { token: { value: stage.token } },
  })) as Generated;
  expect(made.errors).toEqual([]);
  const { notifications } = made.apis;
  const call = async (name: string, parameters: object, requestBody?: object): Promise<{ status: number; body: unknown }> => {
    const operation = notifications?.[name];
    if (operation === undefined) throw new Error(`the client has no ${name}`);
    return operation(parameters, requestBody === undefined ? {} : { requestBody });
  };
  const queued = await call(
    'queueNotification',
    { 'idempotency-key': 'from-swagger' },
    { to: 'shop/coder', kind: 'ci.failed', level: 'error', message: 'CI failed' },
  );
  expect(queued).toMatchObject({ status: 201, body: { kind: 'queued', id: 'from-swagger' } });
  const listed = await call('listNotifications', { log: 'shop/coder', state: 'open' });
  expect(listed.body).toMatchObject({ items: [{ id: 'from-swagger', receipt: 'queued' }], next: null });
  const why = await call('whyNotification', { id: 'from-swagger', log: 'shop/coder' });
  expect(why.body).toMatchObject({ items: [{ steps: [{ what: 'queued' }] }] });
  const withdrawn = await call('withdrawNotification', { id: 'from-swagger', log: 'shop/coder' }, { reason: 'over' });
  expect(withdrawn.body).toEqual({ id: 'from-swagger', result: 'withdrawn' });
});

verifies('server:openapi', 'answers match the document', async () => {
  await using stage = await Stage.open({ emits: true });
  const { client, inbox } = stage;
  await inbox.conversation('shop/coder#a', { host: 'codex' }).seen();
  const { id } = await client.queue({
    to: 'shop/coder#a',
    kind: 'ci.failed',
    level: 'error',
    message: 'x',
    data: { a: 1 },
    key: 'k',
    deliver: 'after_tool',
  });
  const offer = await inbox.conversation('shop/coder#a').offer({ at: 'tool_result', on: 'read' });
  await offer?.confirm();
  await client.queue({ to: 'shop/coder', message: 'open' });
  const wrong: string[] = [];
  for (const [path, query] of [
    ['/healthz', ''],
    ['/api/session', ''],
    ['/api/agents', ''],
    ['/api/projects/{project}/agents/{agent}/conversations', ''],
    ['/api/projects/{project}/agents/{agent}/conversations/{conversation}/records', ''],
    ['/api/notifications', ''],
    ['/api/notifications', '?log=shop/coder'],
    ['/api/notifications/{id}', '?log=shop/coder'],
    ['/api/notifications/{id}/receipt', '?log=shop/coder'],
    ['/api/activity', ''],
    ['/api/tokens', ''],
    ['/api/settings', ''],
  ] as const) {
    const real = path.replace('{project}', 'shop').replace('{agent}', 'coder').replace('{conversation}', 'a').replace('{id}', id);
    const answer: unknown = await (await stage.raw(`${real}${query}`)).json();
    const parsed = schemaOf(stage, path).safeParse(answer);
    if (!parsed.success) wrong.push(`${real}: ${parsed.error.message}`);
    // A parser leaves out fields that a schema does not name.
    else expect(parsed.data).toEqual(answer);
  }
  expect(wrong).toEqual([]);
});

function schemaOf(stage: Stage, path: string): z.ZodType {
  for (const definition of stage.server.app.openAPIRegistry.definitions) {
    if (definition.type !== 'route' || definition.route.path !== path || definition.route.method !== 'get') continue;
    const answer = definition.route.responses[200] as { content?: Record<string, { schema?: z.ZodType }> };
    const schema = answer.content?.['application/json']?.schema;
    if (schema !== undefined) return schema;
  }
  throw new Error(`there is no GET ${path}`);
}
