import type { Success } from '../../mcp/frames/frame.ts';
import {
  addElements,
  addMember,
  arrayAt,
  edited,
  isJson,
  isObject,
  member,
  objectAt,
  removeMembers,
  stringAt,
  textOf,
  valueAt,
  type ArrayAt,
  type Edit,
  type ObjectAt,
  type Range,
} from '../../mcp/frames/json.ts';
import type { Profile } from './profiles.ts';

/**
 * The field of `structuredContent` that contains the notification text. The output schemas of tools/list have the same property.
 */
export const NOTICES = '_notices';

/** The field of a result that contains the text of a signal view, next to `content`. */
export const SIGNAL = 'notification';

/** A tools/call result that can carry notifications: see `carrierIn`. */
export type Carrier = {
  readonly frame: Success;
  readonly object: ObjectAt;
  readonly content: ArrayAt;
  readonly structured?: Range;
  readonly isError: boolean;
};

/** The treatment of the structured content in one tool's results. */
export type Treatment = 'leave' | 'extend' | 'remove';

/**
 * Returns the carrier in a frame. Undefined if the model does not read the result as this call's answer. Such a result has no
 * content, has another `resultType` (`input_required`, `task`), or is a task handle of the older generation. The gateway passes
 * such a result on unchanged.
 */
export function carrierIn(frame: Success): Carrier | undefined {
  const json = frame.bytes;
  const object = objectAt(json, frame.result.start);
  const contentAt = object && member(json, object, 'content');
  const content = contentAt && arrayAt(json, contentAt.start);
  if (object === undefined || content === undefined) return undefined;
  const resultType = member(json, object, 'resultType');
  if (resultType !== undefined && stringAt(json, resultType) !== 'complete') return undefined;
  if (isTask(json, member(json, object, 'task'))) return undefined;
  const structured = member(json, object, 'structuredContent');
  const error = member(json, object, 'isError');
  return {
    frame,
    object,
    content,
    ...(structured && { structured }),
    isError: error !== undefined && textOf(json, error) === 'true',
  };
}

/**
 * Returns the result for the client without a notification. The bytes stay the same unless structured content must be removed.
 */
export function plain({ frame, object, structured }: Carrier, treatment: Treatment): Buffer {
  return treatment === 'remove' && structured && isJson(frame.bytes)
    ? edited(frame.bytes, removeMembers(frame.bytes, object, 'structuredContent'))
    : frame.bytes;
}

export function withRide(
  carrier: Carrier,
  treatment: Treatment,
  ride: { readonly text: string; readonly signal?: string },
): Buffer {
  const { frame, object, content } = carrier;
  const json = frame.bytes;
  const edits: Edit[] = [];
  if (ride.text !== '') {
    edits.push(addElements(content, [textBlock(ride.text)]));
    edits.push(...structuredEdits(carrier, treatment, ride.text));
  } else if (treatment === 'remove') {
    edits.push(...removeMembers(json, object, 'structuredContent'));
  }
  if (ride.signal !== undefined && member(json, object, SIGNAL) === undefined) {
    edits.push(addAfterRemovals(json, object, SIGNAL, JSON.stringify(ride.signal), edits));
  }
  return edited(json, edits);
}

/**
 * Makes a result with only `text`, in place of the original. With `asError`, the result is a failing result, because a client
 * that knows the tool's output schema rejects a successful result without structured content.
 */
export function replaced({ frame, object }: Carrier, text: string, { asError }: { readonly asError: boolean }): Buffer {
  const json = frame.bytes;
  const resultType = member(json, object, 'resultType');
  const fields = [`"content":[${textBlock(text)}]`];
  if (asError) fields.push('"isError":true');
  if (resultType !== undefined) fields.push(`"resultType":${textOf(json, resultType)}`);
  return edited(json, [{ at: { start: object.start, end: object.end }, put: `{${fields.join(',')}}` }]);
}

/**
 * Estimates how many characters (or bytes) of the result the model sees: the longer of the content blocks and the structured
 * content. With `joined`, only the text blocks count, joined with each other and with the notification.
 */
export function charsOf(
  carrier: Carrier,
  size: (text: string) => number = (text) => text.length,
  joined?: { readonly breaks: number },
): number {
  const { frame, structured } = carrier;
  let text = 0;
  for (const block of blocksOf(carrier)) {
    if (block.text !== undefined) text += size(block.text) + (joined?.breaks ?? 0);
    else if (!joined) text += block.bytes;
  }
  return Math.max(text, structured && !joined ? size(textOf(frame.bytes, structured)) : 0);
}

/** Returns the function that measures a text as the client does. */
export const sizeOf = ({ inBytes }: Pick<Profile, 'inBytes'>): ((text: string) => number) =>
  inBytes ? (text) => Buffer.byteLength(text) : (text) => text.length;

/** Counts the lines of the text blocks, joined with each other and with the notification. */
export function linesOf(carrier: Carrier, breaks: number): number {
  let lines = 0;
  for (const { text } of blocksOf(carrier)) if (text !== undefined) lines += linesIn(text) + breaks - 1;
  return lines;
}

export const linesIn = (text: string): number => text.split('\n').length;

function blocksOf({ frame: { bytes }, content }: Carrier): { readonly text: string | undefined; readonly bytes: number }[] {
  return content.elements.map(({ start, end }) => {
    const block = objectAt(bytes, start);
    const at = block && (member(bytes, block, 'text') ?? valueAt(bytes, start, ['resource', 'text']));
    return { text: at && (stringAt(bytes, at) ?? ''), bytes: end - start };
  });
}

export function textBlock(text: string): string {
  return `{"type":"text","text":${JSON.stringify(text)}}`;
}

function isTask(json: Buffer, at: Range | undefined): boolean {
  const object = at && objectAt(json, at.start);
  return object !== undefined && member(json, object, 'taskId') !== undefined;
}

function structuredEdits({ frame, object, structured }: Carrier, treatment: Treatment, text: string): Edit[] {
  const json = frame.bytes;
  if (structured === undefined || treatment === 'leave') return [];
  const inner = treatment === 'extend' && isObject(json, structured) ? objectAt(json, structured.start) : undefined;
  if (inner !== undefined && member(json, inner, NOTICES) === undefined) return [addMember(inner, NOTICES, JSON.stringify(text))];
  return removeMembers(json, object, 'structuredContent');
}

/** Makes the edit that adds a member. If all other members are removed, the new member must not begin with a comma. */
function addAfterRemovals(json: Buffer, object: ObjectAt, name: string, value: string, removals: readonly Edit[]): Edit {
  const kept = object.members.filter(
    ({ keyStart }) => !removals.some(({ at, put }) => put === '' && keyStart >= at.start && keyStart < at.end),
  );
  return addMember({ ...object, members: kept }, name, value);
}
