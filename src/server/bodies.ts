/** Checks that a body is complete, uncompressed, and not too large or too deep, before the body is parsed. */
import type { MiddlewareHandler } from 'hono';
import { MAX_DEPTH, nestsDeeper } from '../core/json.ts';
import type { Env } from './context.ts';
import { ProblemError } from './problems.ts';

const MAX_BODY_BYTES = 1_048_576;
/** The maximum size of a body with events or a webhook, which may be a batch. */
const MAX_EVENT_BODY_BYTES = 5 * 1_048_576;

const isEvent = (path: string): boolean => path === '/api/events' || path.startsWith('/api/webhooks/');

export const bodies: MiddlewareHandler<Env> = async (c, next) => {
  const { method, path } = c.req;
  if (method === 'GET' || method === 'HEAD') return next();
  const max = isEvent(path) ? MAX_EVENT_BODY_BYTES : MAX_BODY_BYTES;
  const told = c.req.header('content-length');
  if (told !== undefined && !(Number(told) <= max)) throw tooLarge(max);
  const encoding = c.req.header('content-encoding') ?? 'identity';
  // Compressed bodies are refused, because a small body may decompress to a huge body.
  if (!/^identity$/iu.test(encoding.trim()))
    throw new ProblemError(
      'unsupported_media_type',
      `the body is encoded as ${JSON.stringify(encoding.slice(0, 40))}; send the body uncompressed, without Content-Encoding`,
      { headers: { 'accept-encoding': 'identity' } },
    );
  const body = await (told === undefined ? wholeOf(c.req.raw, max) : ofLength(c.req.raw));
  // Hono stores promises here, contrary to its types.
  c.req.bodyCache.arrayBuffer = Promise.resolve(body) as never;
  // The routes for events parse the body and check its depth themselves, with error messages about events.
  if (isEvent(path)) return next();
  // Every other body must be JSON, so its text is checked whatever its content type is.
  const text = textOf(body);
  if (nestsDeeper(text, MAX_DEPTH))
    throw new ProblemError('bad_argument', `the body nests more than ${MAX_DEPTH} levels deep; send a body with fewer levels`);
  // The text is stored too, because otherwise Hono makes a Response from the bytes and decodes them again.
  c.req.bodyCache.text = Promise.resolve(text) as never;
  await next();
};

const tooLarge = (max: number): ProblemError =>
  new ProblemError('too_large', `the body is larger than ${max / 1_048_576} MB; send less, or the path of a file`, {
    headers: { connection: 'close' },
  });

/** Reads a body whose length the header states. The HTTP parser enforces that length. */
async function ofLength(request: Request): Promise<ArrayBuffer> {
  try {
    return await request.arrayBuffer();
  } catch {
    throw new ProblemError('bad_argument', 'the body ended early; send the whole body');
  }
}

async function wholeOf(request: Request, max: number): Promise<ArrayBuffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.byteLength;
      if (size > max) throw tooLarge(max);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ProblemError) throw error;
    // The sender has disconnected, or took too long.
    throw new ProblemError('bad_argument', `the body ended early, after ${size} bytes; send the whole body`);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.byteLength;
  }
  return all.buffer;
}

function textOf(body: ArrayBuffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw new ProblemError('bad_argument', 'the body is not UTF-8, which JSON requires; send UTF-8');
  }
}
