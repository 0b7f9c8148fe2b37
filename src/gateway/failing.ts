/** Makes the answers that the gateway gives in place of a server. */
import { errorFrame, resultFrame, type Request } from '../mcp/frames/frame.ts';
import { INTERNAL_ERROR, isStateless } from '../mcp/frames/protocol.ts';
import type { Outgoing } from './riding/carry.ts';
import { textBlock } from './riding/results.ts';
import type { Verdict } from './riding/rider.ts';

/** The error text for requests that were in flight when this gateway ended. */
export const STOPPED = 'The gateway was stopped during this call. The call may have taken effect.';

/**
 * Answers a request that failed. A tools/call gets a failing result, so that the model reads the reason. Any other request gets
 * an error.
 */
export function failing(request: Request, why: string): Outgoing {
  if (request.method !== 'tools/call') return { bytes: errorFrame(request.id, INTERNAL_ERROR, why) };
  const more = isStateless(request) ? ',"resultType":"complete"' : '';
  return {
    bytes: Buffer.from(`{"jsonrpc":"2.0","id":${request.id},"result":{"content":[${textBlock(why)}],"isError":true${more}}}\n`),
  };
}

/** Returns the answer to a call that the gate refuses. */
export function refusal(request: Request, verdict: Verdict & { kind: 'refuse' }): Outgoing {
  const result = {
    content: [{ type: 'text', text: verdict.text }],
    isError: true,
    ...(isStateless(request) && { resultType: 'complete' }),
    ...(verdict.meta && { _meta: verdict.meta }),
  };
  const bytes = resultFrame(request.id, result);
  return { bytes, requestId: request.id, ...(verdict.delivery && { delivery: verdict.delivery }) };
}

/** The first words of the report about a call without an id. Such a call cannot get an answer. */
export const withoutId = (tool: string): string =>
  `the client sent a tools/call of ${JSON.stringify(tool.slice(0, 80))} without an id`;
