/** Resumes the event streams of a restarted server at their last cursor. */
import { editedRequest, idOf, param, type Note, type Request } from '../mcp/frames/frame.ts';
import { addMember, member, objectAt, textOf } from '../mcp/frames/json.ts';
import { META_SUBSCRIPTION } from '../mcp/frames/protocol.ts';

/**
 * Returns the cursor in a frame of an event stream, and the id of the request that began the stream. Returns undefined for a
 * frame that lacks one of the two.
 */
export function progressIn(note: Note): { readonly stream: string; readonly cursor: string } | undefined {
  if (!note.method.startsWith('notifications/events/')) return undefined;
  const at = param(note, '_meta', META_SUBSCRIPTION);
  const cursor = param(note, 'cursor');
  return at && cursor && { stream: idOf(note.bytes, at), cursor: textOf(note.bytes, cursor) };
}

/** Returns the request for a stream, changed to start at the cursor. Without a cursor or params, the request stays unchanged. */
export function resumedAt(request: Request, cursor: string | undefined): Request {
  const params = request.params && objectAt(request.bytes, request.params.start);
  if (params === undefined || cursor === undefined) return request;
  const at = member(request.bytes, params, 'cursor');
  const edit = at ? { at, put: cursor } : addMember(params, 'cursor', cursor);
  return editedRequest(request, [edit]);
}
