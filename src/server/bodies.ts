/** What is checked of a body before it is parsed: how large it is, and how deep. */
import type { MiddlewareHandler } from 'hono';
import type { Env } from './context.ts';
import { ProblemError } from './problems.ts';

const MAX_BODY_BYTES = 1_048_576;
/** Of events and webhooks, which come in batches. */
const MAX_EVENT_BODY_BYTES = 5 * 1_048_576;
/** What is deeper breaks whoever walks it: `JSON.stringify`, a schema, a view. */
export const MAX_DEPTH = 64;

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
  if (!isEvent(path) && c.req.header('content-type')?.startsWith('application/json') && nestsTooDeep(await c.req.text()))
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

/** Brackets outside of texts. */
export function nestsTooDeep(text: string, max = MAX_DEPTH): boolean {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (inText) {
      if (char === BACKSLASH) at++;
      else if (char === QUOTE) inText = false;
    } else if (char === QUOTE) inText = true;
    else if (char === OPEN_BRACE || char === OPEN_BRACKET) {
      if (++depth > max) return true;
    } else if (char === CLOSE_BRACE || char === CLOSE_BRACKET) depth--;
  }
  return false;
}

const [QUOTE, BACKSLASH, OPEN_BRACE, OPEN_BRACKET, CLOSE_BRACE, CLOSE_BRACKET] = [34, 92, 123, 91, 125, 93];
