/** How frames cross between a client and a server of different protocol generations. */
import { param, errorFrame, type Request, type Success } from '../../mcp/frames/frame.ts';
import { addMember, edited, member, objectAt, stringAt, textOf, type Edit, type ObjectAt } from '../../mcp/frames/json.ts';
import {
  clientInfoOf,
  INTERNAL_ERROR,
  isStateless,
  LEGACY_VERSION,
  META_CAPABILITIES,
  META_CLIENT,
  META_VERSION,
  STATELESS_SINCE,
} from '../../mcp/frames/protocol.ts';
import type { Outgoing } from '../riding/carry.ts';
import { textBlock } from '../riding/results.ts';
import { LISTS } from './lists.ts';

/** The client's introduction, for the handshake with each server. `meta` is the envelope of a stateless client. */
export type Introduction = { readonly initialize: object; readonly meta: object; readonly stateless: boolean };

const CACHEABLE = [...Object.keys(LISTS), 'resources/read'];

export function introductionIn(frame: Request): Introduction {
  const clientInfo = clientInfoOf(frame) ?? { name: 'earpiece', version: '1' };
  if (isStateless(frame)) {
    const at = param(frame, '_meta')!;
    const meta = JSON.parse(textOf(frame.bytes, at)) as Record<string, unknown>;
    const own = Object.fromEntries(
      Object.entries(meta).filter(([key]) => [META_VERSION, META_CLIENT, META_CAPABILITIES].includes(key)),
    );
    return { stateless: true, meta: own, initialize: legacyIntroduction(clientInfo) };
  }
  const meta = { [META_VERSION]: STATELESS_SINCE, [META_CLIENT]: clientInfo, [META_CAPABILITIES]: {} };
  const initialize =
    frame.method === 'initialize' && frame.params
      ? (JSON.parse(textOf(frame.bytes, frame.params)) as object)
      : legacyIntroduction(clientInfo);
  return { stateless: false, meta, initialize };
}

/** The introduction for a stateless client at a server of the older generation. It names no capability, so the server asks for none. */
function legacyIntroduction(clientInfo: unknown): object {
  return { protocolVersion: LEGACY_VERSION, capabilities: {}, clientInfo };
}

/** The envelope of a request that the gateway makes because of a client's request. */
export function envelopeLike(like: Request, otherwise: object): object {
  const at = isStateless(like) ? param(like, '_meta') : undefined;
  if (at === undefined) return otherwise;
  const meta = JSON.parse(textOf(like.bytes, at)) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(meta).filter(([key]) => key !== 'progressToken'));
}

/** Edits that put an envelope on a request of the older generation. */
export function envelopeEdits(frame: Request, meta: object): Edit[] {
  const params = frame.params && objectAt(frame.bytes, frame.params.start);
  if (params === undefined) {
    const whole = objectAt(frame.bytes, frame.bytes.indexOf('{'));
    return whole ? [addMember(whole, 'params', JSON.stringify({ _meta: meta }))] : [];
  }
  const at = member(frame.bytes, params, '_meta');
  const object = at && objectAt(frame.bytes, at.start);
  if (object === undefined) return [addMember(params, '_meta', JSON.stringify(meta))];
  return Object.entries(meta).map(([key, value]) => addMember(object, key, JSON.stringify(value)));
}

/** Translates a server's result into the client's generation. */
export function crossed(request: Request, server: string, out: Outgoing, frame: Success): Outgoing {
  const object = objectAt(frame.bytes, frame.result.start);
  if (object === undefined) return out;
  const resultType = stringAt(frame.bytes, member(frame.bytes, object, 'resultType'));
  if (isStateless(request)) {
    if (resultType !== undefined) return out;
    return { ...out, bytes: edited(frame.bytes, statelessEdits(object, request.method)) };
  }
  if (resultType !== 'input_required') return out;
  return failing(request, `"${server}" wants input that this client's protocol has no way to give`);
}

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

function statelessEdits(result: ObjectAt, method: string): Edit[] {
  const edits = [addMember(result, 'resultType', '"complete"')];
  if (!CACHEABLE.includes(method)) return edits;
  if (result.members.length > 0) return [...edits, addMember(result, 'ttlMs', '0'), addMember(result, 'cacheScope', '"private"')];
  return [{ at: edits[0]!.at, put: '"resultType":"complete","ttlMs":0,"cacheScope":"private"' }];
}
