/** The answers that the gateway gives in a server's place. */
import { errorFrame, type Request } from '../mcp/frames/frame.ts';
import { INTERNAL_ERROR, isStateless } from '../mcp/frames/protocol.ts';
import type { Outgoing } from './riding/carry.ts';
import { textBlock } from './riding/results.ts';

/** The answer to what was in flight when this gateway ended. */
export const STOPPED = 'The gateway was stopped while this ran; whether this took effect is not known.';

/** Answers a request that failed. A tools/call gets a failing result, so that the model reads why; any other request gets an error. */
export function failing(request: Request, why: string): Outgoing {
  if (request.method !== 'tools/call') return { bytes: errorFrame(request.id, INTERNAL_ERROR, why) };
  const more = isStateless(request) ? ',"resultType":"complete"' : '';
  return {
    bytes: Buffer.from(`{"jsonrpc":"2.0","id":${request.id},"result":{"content":[${textBlock(why)}],"isError":true${more}}}\n`),
  };
}
