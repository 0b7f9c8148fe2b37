/** What is checked of a body before it is parsed: how large it is, and how deep. */
import type { MiddlewareHandler } from 'hono';
import { nestsDeeper } from '../core/json.ts';
import type { Env } from './context.ts';
import { ProblemError } from './problems.ts';

const MAX_BODY_BYTES = 1_048_576;
/** Of events and webhooks, which come in batches. */
const MAX_EVENT_BODY_BYTES = 5 * 1_048_576;
/** What is deeper breaks whoever walks it: `JSON.stringify`, a schema, a view. */
const MAX_DEPTH = 64;

const isEvent = (path: string): boolean => path === '/api/events' || path.startsWith('/api/webhooks/');

export const bodies: MiddlewareHandler<Env> = async (c, next) => {
  const { method, path } = c.req;
  if (method === 'GET' || method === 'HEAD') return next();
  const max = isEvent(path) ? MAX_EVENT_BODY_BYTES : MAX_BODY_BYTES;
  const told = c.req.header('content-length');
  if (told !== undefined && !(Number(told) <= max)) throw tooLarge(max);
  if (told === undefined && c.req.header('transfer-encoding') !== undefined)
    c.req.bodyCache.arrayBuffer = await readUpTo(c.req.raw, max);
  // Events say in their own words what is wrong with them.
  if (
    !isEvent(path) &&
    c.req.header('content-type')?.startsWith('application/json') &&
    nestsDeeper(await c.req.text(), MAX_DEPTH)
  )
    throw new ProblemError('bad_argument', `the body nests more than ${MAX_DEPTH} deep; send it flatter`);
  await next();
};

const tooLarge = (max: number): ProblemError =>
  new ProblemError('too_large', `the body is larger than ${max / 1_048_576} MB; send less, or the path of a file`, {
    headers: { connection: 'close' },
  });

async function readUpTo({ body }: Request, max: number): Promise<ArrayBuffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > max) throw tooLarge(max);
    chunks.push(chunk);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.byteLength;
  }
  return all.buffer;
}
