/** Reads how a client introduces itself. The gateway uses the introduction for its own handshakes and requests to the servers. */
import { param, type Request } from '../../mcp/frames/frame.ts';
import { textOf } from '../../mcp/frames/json.ts';
import { clientInfoOf, isStateless, META_CAPABILITIES, META_CLIENT, META_VERSION } from '../../mcp/frames/protocol.ts';
import { envelope, initializeParams } from '../../mcp/handshake.ts';

/** The client's introduction, for the handshake with each server. `meta` is the envelope for requests to stateless servers. */
export type Introduction = { readonly initialize: object; readonly meta: object; readonly stateless: boolean };

export function introductionIn(frame: Request): Introduction {
  const clientInfo = clientInfoOf(frame) ?? { name: 'earpiece', version: '1' };
  if (isStateless(frame)) {
    const at = param(frame, '_meta')!;
    const meta = JSON.parse(textOf(frame.bytes, at)) as Record<string, unknown>;
    const own = Object.fromEntries(
      Object.entries(meta).filter(([key]) => [META_VERSION, META_CLIENT, META_CAPABILITIES].includes(key)),
    );
    return { stateless: true, meta: own, initialize: initializeParams(clientInfo) };
  }
  const meta = envelope(clientInfo);
  const initialize =
    frame.method === 'initialize' && frame.params
      ? (JSON.parse(textOf(frame.bytes, frame.params)) as object)
      : initializeParams(clientInfo);
  return { stateless: false, meta, initialize };
}

/**
 * Returns the `_meta` envelope for a request that the gateway makes because of a client's request. If the client's request has no
 * envelope, returns `otherwise`.
 */
export function envelopeLike(like: Request, otherwise: object): object {
  const at = isStateless(like) ? param(like, '_meta') : undefined;
  if (at === undefined) return otherwise;
  const meta = JSON.parse(textOf(like.bytes, at)) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(meta).filter(([key]) => key !== 'progressToken'));
}
