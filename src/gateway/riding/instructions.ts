import type { Success } from '../../mcp/frames/frame.ts';
import { addMember, edited, isJson, member, objectAt, stringAt } from '../../mcp/frames/json.ts';

/** Whether the answer to this request contains `instructions`. Each protocol generation has one such request. */
export const isHandshake = (method: string): boolean => method === 'initialize' || method === 'server/discover';

/** Returns the answer to a handshake with `text` after the server's own instructions. No other byte changes. */
export function withInstructions(frame: Success, text: string): Buffer {
  const json = frame.bytes;
  const object = isJson(json) ? objectAt(json, frame.result.start) : undefined;
  if (object === undefined) return json;
  const at = member(json, object, 'instructions');
  if (at === undefined) return edited(json, [addMember(object, 'instructions', JSON.stringify(text))]);
  const own = stringAt(json, at);
  if (own === undefined) return edited(json, [{ at, put: JSON.stringify(text) }]);
  const end = { start: at.end - 1, end: at.end - 1 };
  return edited(json, [{ at: end, put: JSON.stringify(appended(own, text)).slice(1, -1) }]);
}

/** Returns the text to append to the server's own instructions, with an empty line between them. */
const appended = (own: string, text: string): string => (own === '' ? text : `\n\n${text}`);
