import { frameOf, type Batch, type Failure, type Frame, type Success } from '../mcp/frames/frame.ts';
import { member, objectAt, skipSpace } from '../mcp/frames/json.ts';

/**
 * Counts the answers of one server that belong to no open request. The gateway drops such answers. Otherwise, a hostile server
 * with guessed ids could answer refused calls, calls to other servers, or calls of the gateway's own tools. The first drop is
 * reported at once. If there are more drops, the total number is reported at the end.
 */
export class Unasked {
  readonly #server: string;
  readonly #report: (line: string) => void;
  #dropped = 0;

  constructor(server: string, report: (line: string) => void) {
    this.#server = server;
    this.#report = report;
  }

  /** Counts a dropped answer, and reports the first one. `id` is the JSON text of the answer's id. */
  drop(id: string): void {
    this.#dropped += 1;
    if (this.#dropped > 1) return;
    const shown = id.slice(0, 40).replaceAll(/[^\x20-\x7e]/g, '?');
    this.#report(
      `the MCP server "${this.#server}" sent an answer with the id ${shown}, but has no open request with this id; the gateway drops such answers`,
    );
  }

  end(): void {
    if (this.#dropped > 1)
      this.#report(`the MCP server "${this.#server}" sent ${this.#dropped} answers without a request; all were dropped`);
    this.#dropped = 0;
  }
}

/** The ids of a server's open requests. An id is counted as often as it was sent, because a client may use an id twice. */
export class Unanswered {
  readonly #times = new Map<string, number>();
  #hasAnswered = false;

  /** Whether the server has answered a request since the last `clear`. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  add(id: string): void {
    this.#times.set(id, (this.#times.get(id) ?? 0) + 1);
  }

  has(id: string): boolean {
    return this.#times.has(id);
  }

  /** Removes one request with this id. Returns false if there is no such request. */
  delete(id: string): boolean {
    const times = this.#times.get(id);
    if (times === undefined) return false;
    if (times > 1) this.#times.set(id, times - 1);
    else this.#times.delete(id);
    this.#hasAnswered = true;
    return true;
  }

  forget(id: string): void {
    this.#times.delete(id);
  }

  clear(): void {
    this.#hasAnswered = false;
    this.#times.clear();
  }
}

/**
 * Whether a client could treat the frame as an answer. Some clients treat a request with a `result` or an `error` as an
 * answer.
 */
export function isAnswer(frame: Frame): frame is Frame & { readonly id: string } {
  switch (frame.kind) {
    case 'success':
      return true;
    case 'failure':
      // An error with the id null answers no request. Such an error reports a frame that the server could not read.
      return frame.id !== 'null';
    case 'request':
      return isBoth(frame.bytes);
    case 'note':
    case 'batch':
    case 'opaque':
      return false;
    default:
      return frame satisfies never;
  }
}

export const isPlainAnswer = (frame: Frame): frame is Success | Failure => frame.kind === 'success' || frame.kind === 'failure';

/**
 * Removes from a frame the answers that belong to no request in `waits`. Removes the answered requests from `waits`. Returns the
 * same frame if everything in the frame may pass, and undefined if nothing may pass.
 */
export function sifted(frame: Frame, waits: Unanswered, unasked: Unasked): Frame | undefined {
  if (frame.kind !== 'batch') {
    if (!isAnswer(frame) || (isPlainAnswer(frame) && waits.delete(frame.id))) return frame;
    unasked.drop(frame.id);
    return undefined;
  }
  const elements = elementsOf(frame);
  const kept = elements.filter((each) => each.kind !== 'batch' && sifted(each, waits, unasked) !== undefined);
  if (kept.length === elements.length) return frame;
  return kept.length === 0 ? undefined : frameOf(Buffer.from(`[${kept.map(({ bytes }) => bytes.toString()).join(',')}]`));
}

export const elementsOf = ({ bytes, elements }: Batch): Frame[] =>
  elements.map(({ start, end }) => frameOf(bytes.subarray(start, end)));

/** Returns the ids of the requests in a frame for the server. */
export function idsIn(frame: Frame): readonly string[] {
  if (frame.kind === 'request') return [frame.id];
  return frame.kind === 'batch' ? elementsOf(frame).flatMap((each) => (each.kind === 'request' ? [each.id] : [])) : [];
}

function isBoth(bytes: Buffer): boolean {
  const object = objectAt(bytes, skipSpace(bytes, 0));
  return object !== undefined && ['result', 'error'].some((name) => member(bytes, object, name) !== undefined);
}
