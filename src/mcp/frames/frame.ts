import {
  arrayAt,
  edited,
  isJson,
  member,
  objectAt,
  parsed,
  skipSpace,
  stringAt,
  textOf,
  valueAt,
  type Edit,
  type Range,
} from './json.ts';

/**
 * One JSON-RPC message as bytes. `bytes` includes the line ending of the message, if it has one. The ranges are positions in
 * `bytes`. `id` is the id's JSON text in one canonical spelling, so that ids can be compared.
 */
export type Frame = Request | Note | Success | Failure | Batch | Opaque;

export type Request = {
  readonly kind: 'request';
  readonly bytes: Buffer;
  readonly method: string;
  readonly params?: Range;
} & Identified;
/** A JSON-RPC notification: a request without an id. Elsewhere in this project, a notification is a message for an agent. */
export type Note = { readonly kind: 'note'; readonly bytes: Buffer; readonly method: string; readonly params?: Range };
export type Success = { readonly kind: 'success'; readonly bytes: Buffer; readonly result: Range } & Identified;
export type Failure = { readonly kind: 'failure'; readonly bytes: Buffer; readonly error: Range } & Identified;
export type Batch = { readonly kind: 'batch'; readonly bytes: Buffer; readonly elements: readonly Range[] };
/** Bytes that are not a valid message. Such bytes are passed on if there is only one possible receiver. */
export type Opaque = { readonly kind: 'opaque'; readonly bytes: Buffer; readonly reason: string };

type Identified = { readonly id: string; readonly idAt: Range };

/**
 * Classifies bytes without checking every string in them, which suffices for bytes that are passed on unchanged. To change or
 * answer a frame, use `soundFrameOf`.
 */
export function frameOf(bytes: Buffer): Frame {
  const start = skipSpace(bytes, 0);
  const object = objectAt(bytes, start);
  const container = object ?? arrayAt(bytes, start);
  if (container === undefined || skipSpace(bytes, container.end) !== bytes.length) {
    return { kind: 'opaque', bytes, reason: isJson(bytes) ? 'no JSON object' : 'not JSON' };
  }
  if (object === undefined) return { kind: 'batch', bytes, elements: 'elements' in container ? container.elements : [] };
  const idAt = member(bytes, object, 'id');
  const method = stringAt(bytes, member(bytes, object, 'method'));
  if (method !== undefined) {
    const params = member(bytes, object, 'params');
    const call = { bytes, method, ...(params && { params }) };
    return idAt ? { kind: 'request', ...call, id: idOf(bytes, idAt), idAt } : { kind: 'note', ...call };
  }
  if (idAt === undefined) return { kind: 'opaque', bytes, reason: 'neither method nor id' };
  const id = idOf(bytes, idAt);
  const result = member(bytes, object, 'result');
  if (result !== undefined) return { kind: 'success', bytes, id, idAt, result };
  const error = member(bytes, object, 'error');
  if (error !== undefined) return { kind: 'failure', bytes, id, idAt, error };
  return { kind: 'opaque', bytes, reason: 'an id without method, result or error' };
}

/** Classifies bytes like `frameOf`, but bytes that `JSON.parse` refuses are opaque. */
export function soundFrameOf(bytes: Buffer): Frame {
  return isJson(bytes) ? frameOf(bytes) : { kind: 'opaque', bytes, reason: 'not JSON' };
}

/** Returns the frame, or an opaque frame if `JSON.parse` refuses its bytes. */
export function sound(frame: Frame): Frame {
  return isJson(frame.bytes) ? frame : { kind: 'opaque', bytes: frame.bytes, reason: 'not JSON' };
}

/** Edits the id or the params of a request without parsing it again. The edits must not touch other members. */
export function editedRequest(request: Request, edits: readonly Edit[]): Request {
  if (edits.length === 0) return request;
  const bytes = edited(request.bytes, edits);
  // An edit may have added params.
  if (request.params === undefined) return frameOf(bytes) as Request;
  const idAt = moved(request.idAt, edits);
  return { ...request, bytes, id: idOf(bytes, idAt), idAt, params: moved(request.params, edits) };
}

/** Returns the position of a range after the edits. */
function moved({ start, end }: Range, edits: readonly Edit[]): Range {
  const growth = (of: (edit: Edit) => boolean): number =>
    edits.filter(of).reduce((sum, { at, put }) => sum + Buffer.byteLength(put) - (at.end - at.start), 0);
  return {
    start: start + growth(({ at }) => at.end <= start),
    end: end + growth(({ at }) => at.start < end && at.end <= end),
  };
}

/** Returns the id's JSON text. Different spellings of one value (`"\u0041"` and `"A"`, `1.0` and `1`) give the same text. */
export function idOf(bytes: Buffer, at: Range): string {
  const text = textOf(bytes, at);
  const plain = text.startsWith('"') ? !text.includes('\\') : /^-?\d+$/.test(text);
  return plain ? text : (JSON.stringify(parsed(bytes, at)) ?? text);
}

/** Returns the range of a member below `params`. Undefined if there is no such member. */
export function param(frame: Request | Note, ...path: readonly string[]): Range | undefined {
  return frame.params && valueAt(frame.bytes, frame.params.start, path);
}

/** Makes a frame one line: replaces every line break between JSON tokens by a space, and adds a line break at the end. */
export function asLine(bytes: Buffer): Buffer {
  const trimmed = bytes.at(-1) === 0x0a ? bytes.subarray(0, -1) : bytes;
  const line = Buffer.allocUnsafe(trimmed.length + 1);
  trimmed.copy(line);
  line[trimmed.length] = 0x0a;
  for (let at = line.indexOf(0x0a); at < trimmed.length; at = line.indexOf(0x0a, at)) line[at] = 0x20;
  for (let at = line.indexOf(0x0d); at !== -1; at = line.indexOf(0x0d, at)) line[at] = 0x20;
  return line;
}

/**
 * Returns the line, or undefined if it must not be passed on. A stream that ends within a frame leaves bytes without a line
 * ending. The next write would continue that line.
 */
export function wholeLine(bytes: Buffer): Buffer | undefined {
  if (bytes.at(-1) === 0x0a) return bytes;
  return soundFrameOf(bytes).kind === 'opaque' ? undefined : asLine(bytes);
}

export function resultFrame(id: string, result: object): Buffer {
  return Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result)}}\n`);
}

export function errorFrame(id: string, code: number, message: string, data?: unknown): Buffer {
  return Buffer.from(
    `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code, message, ...(data !== undefined && { data }) })}}\n`,
  );
}

/** Returns the message of an error, or the whole error if it has no message. */
export const messageIn = ({ bytes, error }: Failure): string =>
  stringAt(bytes, valueAt(bytes, error.start, ['message'])) ?? textOf(bytes, error);

/** Whether this message calls a tool. A tool must not run twice, so such a message is not sent twice. */
export const runsTool = (frame: Frame): boolean =>
  (frame.kind === 'request' || frame.kind === 'note') && frame.method === 'tools/call';

/** Returns the id of the request that a `notifications/cancelled` names. Undefined for any other frame. */
export function cancelledBy(frame: Frame): string | undefined {
  if (frame.kind !== 'note' || frame.method !== 'notifications/cancelled') return undefined;
  const at = param(frame, 'requestId');
  return at && idOf(frame.bytes, at);
}
