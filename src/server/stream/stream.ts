/** Sends records to one reader. Keeps the filter, the position and the mode of the stream: see `hub.ts`. */
import { defined } from '../../core/defined.ts';
import type { Store } from '../../core/ports.ts';
import type { Stored } from '../../core/records.ts';
import { concerns, type Scope } from '../authority.ts';
import type { Metrics } from '../metrics.ts';
import { Named, type Sees } from '../named.ts';
import type { Principal } from '../tokens.ts';

const MAX_BEHIND_BYTES = 512 * 1024;
/**
 * The approximate maximum size of a page that is read for one stream. The pages of thousands of slow readers must fit into
 * memory.
 */
const PAGE_BYTES = 64 * 1024;
/** A stream reads its next page only while fewer than this many bytes wait for its reader. */
const HELD_BYTES = 64 * 1024;
/** The number of records on the first page of a stream. The number is small, because the size of the records is still unknown. */
const FIRST_PAGE = 16;
/** The time that a client waits before it reconnects. */
const RETRY_MS = 1_000;
/** A reader that takes no data for more than this many heartbeats in a row is disconnected. */
const STUCK_BEATS = 6;
/** The maximum number of records on a page. */
const PAGE = 200;

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(': \n\n');

export type StreamQuery = Scope & {
  readonly types?: readonly string[] | undefined;
  /** The position after which the stream begins. By default, the stream sends only new records. */
  readonly after?: number | undefined;
};

/** The hub's functions for a stream. */
export type Streams = {
  /** The position up to which every record was pushed to the live streams. */
  readonly position: number;
  /** Runs one read of a stream. The number of simultaneous reads is limited. */
  reading<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Adds `more` bytes, which may be negative, to the size of all queues. Returns true if all queues together contain too many
   * bytes.
   */
  holds(more: number): boolean;
  /** Makes a stream live. The stream must have every record up to the position. */
  join(stream: Stream): void;
  leave(stream: Stream): void;
};

export type StreamOptions = { readonly store: Store; readonly metrics: Metrics; readonly maxBehindBytes?: number };

type Asked = {
  readonly who: Principal;
  readonly query: StreamQuery;
  readonly after: number;
  readonly hangUp: (() => void) | undefined;
  /** Frees the stream's place under the limit of streams. */
  readonly leave: () => void;
};

export class Stream {
  readonly who: Principal;
  readonly leave: () => void;
  readonly body: ReadableStream<Uint8Array>;
  readonly #hub: Streams;
  readonly #query: StreamQuery;
  readonly #types: ReadonlySet<string> | undefined;
  readonly #hangUp: (() => void) | undefined;
  readonly #options: StreamOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #mode: 'catching_up' | 'live' | 'ended' = 'catching_up';
  /** The position up to which every matching record was sent. */
  #at: number;
  /** The number of records on the next page that the stream reads itself. */
  #page = FIRST_PAGE;
  #sent = 0;
  #taken = 0;
  #stuck = 0;
  #held = 0;

  constructor(hub: Streams, { who, query, after, hangUp, leave }: Asked, options: StreamOptions) {
    this.who = who;
    this.leave = leave;
    this.#hangUp = hangUp;
    this.#hub = hub;
    this.#query = query;
    this.#types = query.types === undefined ? undefined : new Set(query.types);
    this.#options = options;
    this.#at = after;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          // The first event has an id, so that a client that gets no record can still resume here.
          this.#send(encoder.encode(`retry: ${RETRY_MS}\nid: ${after}\nevent: ready\ndata: ${JSON.stringify({ after })}\n\n`));
        },
        pull: () => this.#pull(),
        cancel: () => this.end(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: HELD_BYTES }),
    );
  }

  /** Sends the matching records of a page, as the reader `sees` them. The hub calls this method. */
  push(page: readonly Stored[], sees: Sees, encoded: Map<Stored, Uint8Array>): void {
    for (const record of page) {
      if (this.#mode !== 'live') return;
      if (record.seq <= this.#at) continue;
      this.#at = record.seq;
      const shown = this.#wants(record) ? sees(record) : undefined;
      if (shown === undefined) continue;
      let bytes = encoded.get(shown);
      if (bytes === undefined) encoded.set(shown, (bytes = encode(shown)));
      this.#give(bytes);
    }
  }

  beat(): void {
    if (this.#mode === 'ended') return;
    this.#account();
    const room = this.#controller?.desiredSize ?? 0;
    const taken = this.#sent - (HELD_BYTES - room);
    this.#stuck = room <= 0 && taken === this.#taken ? this.#stuck + 1 : 0;
    this.#taken = taken;
    if (this.#stuck > STUCK_BEATS) this.cut('too slow');
    else this.#send(HEARTBEAT);
  }

  end(): void {
    if (this.#mode === 'ended') return;
    this.#mode = 'ended';
    this.#account();
    this.#hub.leave(this);
    try {
      this.#controller?.close();
    } catch {
      // An error means that the reader has disconnected.
    }
  }

  /** Reads the next page of a stream that is catching up, when its reader can take more data. */
  async #pull(): Promise<void> {
    try {
      while (this.#mode === 'catching_up') {
        const sent = await this.#hub.reading(() => this.#catchUp());
        if (sent) return;
      }
    } catch (error) {
      // The store does not answer, so the stream ends. The client reconnects and resumes at its position.
      this.cut(error instanceof Error ? error.message : String(error));
    }
  }

  /** Sends one page. Returns true if records were sent, which the reader should take before the next page. */
  async #catchUp(): Promise<boolean> {
    const { store } = this.#options;
    const { project, log } = this.#query;
    const upTo = await store.head();
    const page = await store.read({
      after: this.#at,
      upTo,
      limit: this.#page,
      ...defined({ log }),
      ...(log !== undefined || project === undefined ? {} : { project }),
      ...defined({ types: this.#query.types }),
    });
    const sees = await new Named(store, page).seenBy(this.who);
    if (this.#mode !== 'catching_up') return true;
    const sentBefore = this.#sent;
    for (const record of page) {
      if (this.#sent - sentBefore >= PAGE_BYTES) {
        // The remaining records are sent when the reader has taken these records.
        this.#page = Math.max(1, page.indexOf(record));
        return true;
      }
      const shown = this.#wants(record) ? sees(record) : undefined;
      if (shown !== undefined) this.#give(encode(shown), true);
      this.#at = record.seq;
    }
    if (page.length < this.#page) this.#at = Math.max(this.#at, upTo);
    this.#page = Math.min(PAGE, this.#page * 2);
    if (this.#at >= this.#hub.position && this.#mode === 'catching_up') {
      this.#mode = 'live';
      this.#hub.join(this);
    }
    return this.#sent > sentBefore;
  }

  #wants(record: Stored): boolean {
    const { project, log, conversation } = this.#query;
    if (log !== undefined && record.log !== log) return false;
    if (project !== undefined && log === undefined && !record.log.startsWith(`${project}/`)) return false;
    if (this.#types !== undefined && !this.#types.has(record.body.type)) return false;
    return conversation === undefined || concerns(record, conversation);
  }

  #give(bytes: Uint8Array, asked = false): void {
    this.#options.metrics.count('earpiece_stream_records_total');
    this.#send(bytes, asked);
  }

  /** Puts bytes into the queue. If `asked` is set, the reader has requested these bytes, so they never count as too many. */
  #send(bytes: Uint8Array, asked = false): void {
    if (this.#mode === 'ended' || this.#controller === undefined) return;
    this.#controller.enqueue(bytes);
    this.#sent += bytes.byteLength;
    const behind = -(this.#controller.desiredSize ?? 0);
    const tooMuch = this.#account();
    if (asked || behind <= (tooMuch ? 0 : (this.#options.maxBehindBytes ?? MAX_BEHIND_BYTES))) return;
    this.cut('too slow');
  }

  /** Reports the size of the queue to the hub. Returns true if all queues together contain too many bytes. */
  #account(): boolean {
    const held = this.#mode === 'ended' ? 0 : HELD_BYTES - (this.#controller?.desiredSize ?? HELD_BYTES);
    const more = held - this.#held;
    this.#held = held;
    return this.#hub.holds(more);
  }

  /** Disconnects the reader. `close` would wait until the reader takes the remaining data, which this reader may never do. */
  cut(why: string): void {
    if (this.#mode === 'ended') return;
    this.#mode = 'ended';
    this.#account();
    this.#hub.leave(this);
    this.#options.metrics.count('earpiece_streams_cut_total');
    if (this.#hangUp === undefined) this.#controller?.error(new Error(why));
    else this.#hangUp();
  }
}

const encode = ({ seq, log, at, body }: Stored): Uint8Array =>
  encoder.encode(`id: ${seq}\nevent: record\ndata: ${JSON.stringify({ seq, log, at, body })}\n\n`);
