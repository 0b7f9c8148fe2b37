/** Translates frames between a client and a server of different protocol generations. */
import type { Request, Success } from '../../mcp/frames/frame.ts';
import { addMember, edited, member, objectAt, stringAt, type Edit, type ObjectAt } from '../../mcp/frames/json.ts';
import { isStateless } from '../../mcp/frames/protocol.ts';
import { failing } from '../failing.ts';
import type { Outgoing } from '../riding/carry.ts';
import { LISTS } from './lists.ts';

const CACHEABLE = [...Object.keys(LISTS), 'resources/read'];

/** Returns the edits that add the `_meta` envelope of the stateless generation to a request of the older generation. */
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
    const { frame: _read, ...rest } = out;
    return { ...rest, bytes: edited(frame.bytes, statelessEdits(object, request.method)) };
  }
  if (resultType !== 'input_required') return out;
  return failing(request, `the MCP server "${server}" asks for input, which the client's older protocol does not support`);
}

function statelessEdits(result: ObjectAt, method: string): Edit[] {
  const edits = [addMember(result, 'resultType', '"complete"')];
  if (!CACHEABLE.includes(method)) return edits;
  if (result.members.length > 0) return [...edits, addMember(result, 'ttlMs', '0'), addMember(result, 'cacheScope', '"private"')];
  return [{ at: edits[0]!.at, put: '"resultType":"complete","ttlMs":0,"cacheScope":"private"' }];
}
