/** The largest frame, in bytes. Longer frames are refused, because a frame must fit in memory. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;

export type LineSink = {
  /** Called with each line, including its line ending and including empty lines. The last line may lack the line ending. */
  readonly line: (bytes: Buffer) => void;
  /**
   * Called when a line is longer than `maxBytes` and is dropped. `head` and `tail` are the line's first and last bytes. These
   * bytes may contain the id.
   */
  readonly tooLong: (line: { readonly bytes: number; readonly head: Buffer; readonly tail: Buffer }) => void;
};

/** How many bytes are kept from the beginning and the end of a line that is too long. */
const KEEP_BYTES = 4096;

/** Splits a byte stream into lines (stdio framing). Chunks may end anywhere, even within a character. */
export class LineReader {
  readonly #sink: LineSink;
  readonly #maxBytes: number;
  /** The chunks of the current, unfinished line. */
  #parts: Buffer[] = [];
  #held = 0;
  #dropped: { bytes: number; head: Buffer; tail: Buffer } | undefined;

  constructor(sink: LineSink, maxBytes: number = MAX_FRAME_BYTES) {
    this.#sink = sink;
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (;;) {
      const newline = chunk.indexOf(0x0a, from);
      if (newline === -1) break;
      this.#hold(from === 0 && newline === chunk.length - 1 ? chunk : chunk.subarray(from, newline + 1));
      this.#emit();
      from = newline + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
  }

  /** Ends the stream. The remaining bytes count as a line. */
  end(): void {
    if (this.#held > 0 || this.#dropped) this.#emit();
  }

  #hold(part: Buffer): void {
    if (this.#dropped) {
      this.#dropped.bytes += part.length;
      this.#dropped.tail = lastOf(this.#dropped.tail, part);
      return;
    }
    this.#parts.push(part);
    this.#held += part.length;
    if (this.#held <= this.#maxBytes) return;
    const all = Buffer.concat(this.#parts);
    // `head` and `tail` are copies, because a slice would keep the whole chunk in memory.
    this.#dropped = {
      bytes: all.length,
      head: Buffer.from(all.subarray(0, KEEP_BYTES)),
      tail: Buffer.from(all.subarray(-KEEP_BYTES)),
    };
    this.#parts = [];
    this.#held = 0;
  }

  #emit(): void {
    const dropped = this.#dropped;
    const line = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#held = 0;
    this.#dropped = undefined;
    if (dropped) this.#sink.tooLong(dropped);
    else this.#sink.line(line);
  }
}

function lastOf(tail: Buffer, part: Buffer): Buffer {
  return part.length >= KEEP_BYTES ? Buffer.from(part.subarray(-KEEP_BYTES)) : Buffer.concat([tail, part]).subarray(-KEEP_BYTES);
}

/**
 * One server-sent event. `data` is the event's data lines, joined with line breaks. `raw` is the whole event with its final empty
 * line, for a reader that passes the event on unchanged.
 */
export type SseEvent = {
  readonly data: Buffer | undefined;
  readonly event?: string;
  readonly id?: string;
  readonly retry?: string;
  readonly raw: Buffer;
};

/** Splits a byte stream into server-sent events. Comments, `id` and `retry` stay in `raw`. */
export class SseReader {
  readonly #lines: LineReader;
  readonly #sink: (event: SseEvent) => void;
  #raw: Buffer[] = [];
  #data: Buffer[] = [];
  #fields: { event?: string; id?: string; retry?: string } = {};
  #held = 0;

  constructor(
    sink: { readonly event: (event: SseEvent) => void; readonly tooLong: (bytes: number) => void },
    maxBytes: number = MAX_FRAME_BYTES,
  ) {
    this.#sink = sink.event;
    this.#lines = new LineReader({ line: (line) => this.#line(line), tooLong: (line) => sink.tooLong(line.bytes) }, maxBytes);
  }

  push(chunk: Buffer): void {
    this.#lines.push(chunk);
  }

  /**
   * Ends the stream. An event without its final empty line also counts, because some servers omit that line before they
   * disconnect.
   */
  end(): void {
    this.#lines.end();
    if (this.#held > 0) this.#emit();
  }

  #line(line: Buffer): void {
    this.#raw.push(line);
    this.#held += line.length;
    let end = line.length;
    if (line[end - 1] === 0x0a) end -= 1;
    if (line[end - 1] === 0x0d) end -= 1;
    if (end === 0) return this.#emit();
    const colon = line.indexOf(0x3a);
    const nameEnd = colon === -1 || colon >= end ? end : colon;
    const valueStart = nameEnd === end ? end : line[nameEnd + 1] === 0x20 ? nameEnd + 2 : nameEnd + 1;
    const value = line.subarray(Math.min(valueStart, end), end);
    switch (line.toString('latin1', 0, nameEnd)) {
      case 'data':
        this.#data.push(value);
        break;
      case 'event':
        this.#fields.event = value.toString();
        break;
      case 'id':
        this.#fields.id = value.toString();
        break;
      case 'retry':
        this.#fields.retry = value.toString();
        break;
      default:
    }
  }

  #emit(): void {
    const raw = this.#raw.length === 1 ? this.#raw[0]! : Buffer.concat(this.#raw);
    const data = this.#data.length === 0 ? undefined : this.#data.length === 1 ? this.#data[0]! : joined(this.#data);
    const fields = this.#fields;
    this.#raw = [];
    this.#data = [];
    this.#fields = {};
    this.#held = 0;
    this.#sink({ data, ...fields, raw });
  }
}

/** Makes an event with `bytes` as its data and the other fields of `like`. Default: an event `message`. */
export function sseEvent(
  bytes: Buffer,
  like: { readonly event?: string; readonly id?: string; readonly retry?: string } = { event: 'message' },
): Buffer {
  const head =
    (like.event === undefined ? '' : `event: ${like.event}\n`) +
    (like.id === undefined ? '' : `id: ${like.id}\n`) +
    (like.retry === undefined ? '' : `retry: ${like.retry}\n`);
  const data = bytes
    .toString('latin1')
    .replace(/[\r\n]+$/, '')
    .split(/\r\n|\r|\n/)
    .map((line) => `data: ${line}\n`)
    .join('');
  return Buffer.concat([Buffer.from(head), Buffer.from(`${data}\n`, 'latin1')]);
}

function joined(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [Buffer.from('\n'), line])));
}
