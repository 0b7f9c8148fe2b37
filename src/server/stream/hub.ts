/**
 * All streams of one server on one watch of the store. Each stream is in one mode:
 *
 * - **catching up**: it reads the store itself, page by page, as fast as its reader takes it, from where it left off.
 *   Leaves for *live* in the very step in which it has everything up to the hub's position: then nothing is between them.
 * - **live**: the hub pushes each record to it that it wants, encoded once for all.
 * - **ended**: its reader went, or did not keep up (`MAX_BEHIND_BYTES`), its token was revoked, the log is another one than
 *   before, or the server stops.
 *
 * A reader that was cut off comes again with the last id that it saw, so nothing is kept for it.
 */
import { EarpieceError } from '../../core/errors.ts';
import type { Store } from '../../core/ports.ts';
import { isType, type Draft, type Stored } from '../../core/records.ts';
import { concerns, maySee, type Scope } from '../authority.ts';
import type { Metrics } from '../metrics.ts';
import type { Telemetry } from '../telemetry.ts';
import type { Principal, Tokens } from '../tokens.ts';

export type StreamQuery = Scope & {
  readonly types?: readonly string[] | undefined;
  /** Exclusive; undefined: only what comes from now on. */
  readonly after?: number | undefined;
};

export type HubOptions = {
  readonly store: Store;
  readonly tokens: Tokens;
  readonly metrics: Metrics;
  readonly telemetry: Telemetry;
  /** What goes wrong with nobody to tell. */
  readonly report: (line: string) => void;
  readonly heartbeatMs?: number;
  readonly maxStreams?: number;
  readonly maxBehindBytes?: number;
  readonly maxHeldBytes?: number;
};

/** A client takes a connection for dead where it hears nothing for two of them and a half. */
const HEARTBEAT_MS = 10_000;
const MAX_STREAMS = 5_000;
const MAX_BEHIND_BYTES = 512 * 1024;
/** What all streams hold together for readers that do not take it; above it, each one that is behind is cut at its next record. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
/** Streams written to in one turn of the event loop: thousands must not hold up the requests. */
const WRITES_A_TURN = 64;
const PAGE = 200;
/** The first page of a stream: nobody knows yet how large its records are. */
const FIRST_PAGE = 16;
/** What a page that is read for one stream comes to at most, about: thousands that read nothing must fit into memory. */
const PAGE_BYTES = 64 * 1024;
/** What a stream holds for its reader before it reads on. */
const HELD_BYTES = 64 * 1024;
/** What one token may have of the streams that are served: others still get theirs. */
const PART_OF_ADMIN = 0.8;
const PART_OF_ONE = 0.2;
/** Streams that read the store at the same time: thousands that come back together take turns. */
const READERS = 16;
/** How long a client waits before it comes again. */
const RETRY_MS = 1_000;
/** Heartbeats for which a reader may take nothing at all. */
const STUCK_BEATS = 6;
/** How soon a revocation by another process ends a stream on which nothing happens. */
const CHECK_TOKENS_MS = 1_000;

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(': \n\n');

export class Hub {
  readonly #options: HubOptions;
  readonly #live = new Set<Stream>();
  readonly #all = new Set<Stream>();
  readonly #turns = new Turns(READERS);
  readonly #heartbeat: NodeJS.Timeout;
  readonly #tokenCheck: NodeJS.Timeout;
  readonly #forgetRevoked: () => void;
  readonly #stopping = new AbortController();
  /** Undefined until the store was asked for the first time. */
  #position: number | undefined;
  #running: Promise<void> | undefined;
  /** Bytes in the queues of all streams. */
  #held = 0;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#heartbeat = setInterval(() => this.#beat(), options.heartbeatMs ?? HEARTBEAT_MS);
    this.#tokenCheck = setInterval(() => void this.#checkTokens(), CHECK_TOKENS_MS);
    this.#heartbeat.unref();
    this.#tokenCheck.unref();
    this.#forgetRevoked = options.tokens.onRevoked((id) => this.#endOf(id));
  }

  get size(): number {
    return this.#all.size;
  }

  /** How many of these are open where one more is not served. */
  fullFor(who: Principal): { readonly open: number; readonly of: 'all' | 'this token' } | undefined {
    const max = this.#options.maxStreams ?? MAX_STREAMS;
    if (this.#all.size >= max) return { open: this.#all.size, of: 'all' };
    let open = 0;
    for (const stream of this.#all) if (stream.who.id === who.id) open++;
    return open < Math.ceil(max * (who.kind === 'admin' ? PART_OF_ADMIN : PART_OF_ONE)) ? undefined : { open, of: 'this token' };
  }

  get stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Aborts when the server stops: for whatever waits. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Everything up to here was pushed to the live streams. */
  get position(): number {
    return this.#position ?? 0;
  }

  /** The body of an answer: server-sent events. `hangUp` closes its connection, whatever is still in it. */
  async open(who: Principal, query: StreamQuery, hangUp?: () => void): Promise<ReadableStream<Uint8Array>> {
    await this.#run();
    // Nobody could tell whether a stream has everything.
    if (this.#position === undefined)
      throw new EarpieceError('store_unavailable', 'the log cannot be read just now; try again', { retryable: true });
    const after = query.after ?? (await this.#options.store.head());
    const stream = new Stream(this, { who, query, after, hangUp }, this.#options);
    this.#all.add(stream);
    return stream.body;
  }

  /** The last word to each stream, then their end. */
  async stop(): Promise<void> {
    if (this.stopped) return this.#running;
    this.#stopping.abort();
    clearInterval(this.#heartbeat);
    clearInterval(this.#tokenCheck);
    this.#forgetRevoked();
    for (const stream of this.#all) stream.end();
    await this.#running;
  }

  /** For streams: one of them reads. */
  reading<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.take(work);
  }

  /** For streams: the queue of one grew or shrank. True when all together hold too much. */
  holds(more: number): boolean {
    this.#held += more;
    return this.#held > (this.#options.maxHeldBytes ?? MAX_HELD_BYTES);
  }

  /** For streams: it has everything up to the position. */
  join(stream: Stream): void {
    this.#live.add(stream);
  }

  leave(stream: Stream): void {
    this.#live.delete(stream);
    this.#all.delete(stream);
  }

  #run(): Promise<void> {
    if (this.#running === undefined) {
      let started: () => void = () => {};
      const ready = new Promise<void>((resolve) => (started = resolve));
      this.#running = this.#watch(started);
      return ready;
    }
    return Promise.resolve();
  }

  /** Until the hub stops; trouble with the store is reported and tried again. */
  async #watch(started: () => void): Promise<void> {
    const { store, report } = this.#options;
    const { signal } = this.#stopping;
    for (let wait = 100; !signal.aborted; wait = Math.min(wait * 2, 5_000)) {
      try {
        this.#position ??= await store.head();
        started();
        while (!signal.aborted) {
          const page = await store.read({ after: this.#position, limit: PAGE });
          if (page.length > 0) await this.#push(page);
          else if ((await store.head()) < this.#position) await this.#anew();
          else await store.changed(this.#position, { withinMs: 5_000, signal });
          wait = 100;
        }
      } catch (error) {
        report(`the log cannot be watched: ${error instanceof Error ? error.message : String(error)}; trying again`);
        started();
        await new Promise((resolve) => {
          const timer = setTimeout(resolve, wait);
          signal.addEventListener('abort', () => (clearTimeout(timer), resolve(undefined)), { once: true });
        });
      }
    }
  }

  /** An older log stands in the place of this one. Who comes again with an id that it does not have is told so. */
  async #anew(): Promise<void> {
    this.#position = await this.#options.store.head();
    for (const stream of this.#all) stream.cut('the log is another one');
  }

  async #push(page: readonly Stored[]): Promise<void> {
    // Before anything that came after a revocation is shown to those whom it ended.
    await this.#checkTokens();
    const encoded = new Map<Stored, Uint8Array>();
    let written = 0;
    // A stream that joins meanwhile is visited too, and leaves out what it has.
    for (const stream of this.#live) {
      stream.push(page, encoded);
      if (++written % WRITES_A_TURN === 0) await nextTurn();
    }
    this.#position = page.at(-1)?.seq ?? this.#position;
    for (const record of page) if (carries(record.body)) this.#carried(record);
  }

  #carried({ log, at, body }: Stored): void {
    const { metrics, telemetry } = this.#options;
    metrics.count('earpiece_carried_total', { record: body.type });
    telemetry.count('earpiece.carried', { record: body.type });
    telemetry.happened('earpiece.carry', at, { 'earpiece.log': log, 'earpiece.record': body.type });
  }

  #beat(): void {
    for (const stream of this.#all) stream.beat();
  }

  async #checkTokens(): Promise<void> {
    const ids = new Set([...this.#all].map((stream) => stream.who.id));
    for (const id of ids) {
      try {
        if (!(await this.#options.tokens.lives(id))) this.#endOf(id);
      } catch {
        // The store cannot be asked: nothing can be read from it either.
      }
    }
  }

  #endOf(id: string): void {
    for (const stream of this.#all) if (stream.who.id === id) stream.end();
  }
}

type Asked = {
  readonly who: Principal;
  readonly query: StreamQuery;
  readonly after: number;
  readonly hangUp: (() => void) | undefined;
};

class Stream {
  readonly who: Principal;
  readonly body: ReadableStream<Uint8Array>;
  readonly #hub: Hub;
  readonly #query: StreamQuery;
  readonly #types: ReadonlySet<string> | undefined;
  readonly #hangUp: (() => void) | undefined;
  readonly #options: HubOptions;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #mode: 'catching_up' | 'live' | 'ended' = 'catching_up';
  /** Everything up to here was sent, or is not for this stream. */
  #at: number;
  /** Records of the next page that it reads itself. */
  #page = FIRST_PAGE;
  #sent = 0;
  #taken = 0;
  #stuck = 0;
  #held = 0;

  constructor(hub: Hub, { who, query, after, hangUp }: Asked, options: HubOptions) {
    this.who = who;
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
          // With an id, so that a client that saw nothing else comes back to this place.
          this.#send(encoder.encode(`retry: ${RETRY_MS}\nid: ${after}\nevent: ready\ndata: ${JSON.stringify({ after })}\n\n`));
        },
        pull: () => this.#pull(),
        cancel: () => this.end(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: HELD_BYTES }),
    );
  }

  /** From the hub. */
  push(page: readonly Stored[], encoded: Map<Stored, Uint8Array>): void {
    for (const record of page) {
      if (this.#mode !== 'live') return;
      if (record.seq <= this.#at) continue;
      this.#at = record.seq;
      if (!this.#wants(record)) continue;
      let bytes = encoded.get(record);
      if (bytes === undefined) encoded.set(record, (bytes = encode(record)));
      this.#give(bytes);
    }
  }

  beat(): void {
    if (this.#mode === 'ended') return;
    // Nothing was taken since the last beats: whoever reads that slowly is gone, or will come again.
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
      // Its reader has gone.
    }
  }

  /** The reader has room: while catching up, that is when the next page is read. */
  async #pull(): Promise<void> {
    try {
      while (this.#mode === 'catching_up') {
        const sent = await this.#hub.reading(() => this.#catchUp());
        if (sent) return;
      }
    } catch (error) {
      // The store is away: the client comes again, and goes on where it was.
      this.cut(error instanceof Error ? error.message : String(error));
    }
  }

  /** One page. True when something was sent, so that the reader takes it first. */
  async #catchUp(): Promise<boolean> {
    const { store } = this.#options;
    const { project, log } = this.#query;
    const upTo = await store.head();
    const page = await store.read({
      after: this.#at,
      upTo,
      limit: this.#page,
      ...(log === undefined ? {} : { log }),
      ...(log !== undefined || project === undefined ? {} : { project }),
      ...(this.#query.types === undefined ? {} : { types: this.#query.types }),
    });
    if (this.#mode !== 'catching_up') return true;
    const sentBefore = this.#sent;
    for (const record of page) {
      if (this.#sent - sentBefore >= PAGE_BYTES) {
        // The rest of it when its reader has taken this.
        this.#page = Math.max(1, page.indexOf(record));
        return true;
      }
      if (this.#wants(record)) this.#give(encode(record), true);
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
    if (conversation !== undefined && !concerns(record, conversation)) return false;
    return maySee(this.who, record);
  }

  /** A record. */
  #give(bytes: Uint8Array, asked = false): void {
    this.#options.metrics.count('earpiece_stream_records_total');
    this.#send(bytes, asked);
  }

  /** `asked`: its reader had room when this was read; only what is pushed can be too much. */
  #send(bytes: Uint8Array, asked = false): void {
    if (this.#mode === 'ended' || this.#controller === undefined) return;
    this.#controller.enqueue(bytes);
    this.#sent += bytes.byteLength;
    const behind = -(this.#controller.desiredSize ?? 0);
    const tooMuch = this.#account();
    if (asked || behind <= (tooMuch ? 0 : (this.#options.maxBehindBytes ?? MAX_BEHIND_BYTES))) return;
    this.cut('too slow');
  }

  /** Tells the hub what its queue holds. True when all streams together hold too much. */
  #account(): boolean {
    const held = this.#mode === 'ended' ? 0 : HELD_BYTES - (this.#controller?.desiredSize ?? HELD_BYTES);
    const more = held - this.#held;
    this.#held = held;
    return this.#hub.holds(more);
  }

  /** Not `close`, which would wait until the reader has taken what it does not take. */
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

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const encode = ({ seq, log, at, body }: Stored): Uint8Array =>
  encoder.encode(`id: ${seq}\nevent: record\ndata: ${JSON.stringify({ seq, log, at, body })}\n\n`);

const carries = (body: Draft): boolean =>
  isType(body, 'carrier_confirmed') ||
  ((isType(body, 'chat_request') || isType(body, 'tool_call_response')) && body.view !== undefined);

/** So many at a time, the others in the order in which they came. */
class Turns {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(n: number) {
    this.#free = n;
  }

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#free--;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
