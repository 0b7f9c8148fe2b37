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

const LF = 0x0a;
const CR = 0x0d;

/** How many bytes are kept from the beginning and the end of a line that is too long. */
const KEEP_BYTES = 4096;

/**
 * Splits a byte stream into lines. Chunks may end anywhere, even within a character. A line ends with LF (stdio framing). With
 * `endsAtCr`, a line also ends with CR or CRLF. If a chunk then ends between CR and LF, the LF counts as an empty line.
 */
export class LineReader {
  readonly #sink: LineSink;
  readonly #maxBytes: number;
  readonly #endsAtCr: boolean;
  /** The chunks of the current, unfinished line. */
  #parts: Buffer[] = [];
  #held = 0;
  #dropped: { bytes: number; head: Buffer; tail: Buffer } | undefined;

  constructor(sink: LineSink, maxBytes: number = MAX_FRAME_BYTES, { endsAtCr = false }: { readonly endsAtCr?: boolean } = {}) {
    this.#sink = sink;
    this.#maxBytes = maxBytes;
    this.#endsAtCr = endsAtCr;
  }

  push(chunk: Buffer): void {
    let from = 0;
    let lf = chunk.indexOf(LF);
    let cr = this.#endsAtCr ? chunk.indexOf(CR) : -1;
    while (lf !== -1 || cr !== -1) {
      const first = cr !== -1 && (lf === -1 || cr < lf) ? cr : lf;
      const end = first === cr && lf === cr + 1 ? lf + 1 : first + 1;
      this.#hold(from === 0 && end === chunk.length ? chunk : chunk.subarray(from, end));
      this.#emit();
      from = end;
      if (lf !== -1 && lf < from) lf = chunk.indexOf(LF, from);
      if (cr !== -1 && cr < from) cr = chunk.indexOf(CR, from);
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

/**
 * Splits a byte stream into server-sent events, whose lines end with LF, CR or CRLF. Comments, `id` and `retry` stay in `raw`.
 * All `raw` together are the bytes of the stream.
 */
export class SseReader {
  readonly #lines: LineReader;
  readonly #sink: (event: SseEvent) => void;
  #raw: Buffer[] = [];
  #data: Buffer[] = [];
  #fields: { event?: string; id?: string; retry?: string } = {};
  #held = 0;
  /** Whether the last chunk ended with CR. If the next chunk begins with LF, the CR and the LF are one line end. */
  #afterCr = false;

  constructor(
    sink: { readonly event: (event: SseEvent) => void; readonly tooLong: (bytes: number) => void },
    maxBytes: number = MAX_FRAME_BYTES,
  ) {
    this.#sink = sink.event;
    this.#lines = new LineReader({ line: (line) => this.#line(line), tooLong: (line) => sink.tooLong(line.bytes) }, maxBytes, {
      endsAtCr: true,
    });
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    const isSplit = this.#afterCr && chunk[0] === LF;
    this.#afterCr = chunk.at(-1) === CR;
    if (!isSplit) return this.#lines.push(chunk);
    // Between two events, this LF is passed on at once, because a reader may wait for the LF of a CRLF.
    const isBetweenEvents = this.#held === 0;
    this.#raw.push(chunk.subarray(0, 1));
    this.#held += 1;
    if (isBetweenEvents) this.#emit();
    this.#lines.push(chunk.subarray(1));
  }

  /**
   * Ends the stream. An event without its final empty line also counts, because some servers omit that line before they
   * disconnect.
   */
  end(): void {
    this.#lines.end();
    if (this.#held > 0) this.#emit();
  }

  #line(bytes: Buffer): void {
    // A client ignores byte order marks at the beginning of its stream. Any event may begin this stream, because all earlier
    // events may have been dropped.
    const line = this.#held === 0 ? withoutMarks(bytes) : bytes;
    this.#raw.push(bytes);
    this.#held += bytes.length;
    let end = line.length;
    if (line[end - 1] === LF) end -= 1;
    if (line[end - 1] === CR) end -= 1;
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

/** Some readers ignore one byte order mark, and some ignore two, so all are ignored. */
function withoutMarks(line: Buffer): Buffer {
  let from = 0;
  while (line[from] === 0xef && line[from + 1] === 0xbb && line[from + 2] === 0xbf) from += 3;
  return line.subarray(from);
}

function joined(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [Buffer.from('\n'), line])));
}
