/**
 * Feeds all streams of one server from one watch of the store, which also counts deliveries. The watch starts when it is first
 * needed, because every record that it reads costs time. Each stream is in one of these modes.
 *
 * - **catching up**: the stream reads the store page by page from its last position, as fast as its reader takes the data.
 *   A stream that reaches the hub's position becomes *live* in the same step, and misses no record.
 * - **live**: the hub pushes each matching record to the stream. A record is encoded once for all live streams.
 * - **ended**: the reader disconnected or did not keep up (`MAX_BEHIND_BYTES`), the token was revoked, the database was
 *   replaced or cannot be read, or the server stops.
 *
 * A disconnected reader reconnects with the last id that it received, so the hub stores nothing for that reader.
 */
import { EarpieceError } from '../../core/errors.ts';
import type { Store } from '../../core/ports.ts';
import { isType, type Draft, type Stored } from '../../core/records.ts';
import type { Metrics } from '../metrics.ts';
import { Named } from '../named.ts';
import type { Telemetry } from '../telemetry.ts';
import { ProblemError } from '../problems.ts';
import type { Principal, Tokens } from '../tokens.ts';
import { Places } from './places.ts';
import { Stream, type StreamQuery, type Streams } from './stream.ts';
import { Turns } from './turns.ts';

export type HubOptions = {
  readonly store: Store;
  readonly tokens: Tokens;
  readonly metrics: Metrics;
  readonly telemetry: Telemetry;
  /** Reports errors that no client sees. */
  readonly report: (line: string) => void;
  readonly heartbeatMs?: number;
  readonly maxStreams?: number;
  readonly maxBehindBytes?: number;
  readonly maxHeldBytes?: number;
};

/** The interval of heartbeats. A client treats a connection as dead after two and a half intervals without data. */
const HEARTBEAT_MS = 10_000;
const MAX_STREAMS = 5_000;
/**
 * The maximum number of bytes that all streams keep in memory for slow readers. Above this limit, each stream that is behind is
 * disconnected at its next record or heartbeat.
 */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
/**
 * The maximum number of streams that the hub writes to in one iteration of the event loop. Without this limit, thousands of
 * streams would delay requests.
 */
const WRITES_A_TURN = 64;
const PAGE = 200;
/**
 * The maximum number of streams that read the store at the same time. Further streams wait, for example if thousands of streams
 * reconnect at the same time.
 */
const READERS = 16;
/** The interval at which tokens are checked, so that a revocation by another process also ends an idle stream. */
const CHECK_TOKENS_MS = 1_000;

export class Hub implements Streams {
  readonly #options: HubOptions;
  readonly #live = new Set<Stream>();
  readonly #all = new Set<Stream>();
  readonly #turns = new Turns(READERS);
  readonly #places: Places;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #tokenCheck: NodeJS.Timeout;
  readonly #forgetRevoked: () => void;
  readonly #stopping = new AbortController();
  /** The position up to which records were pushed; undefined until the store has answered for the first time. */
  #position: number | undefined;
  #ready: Promise<void> | undefined;
  #running: Promise<void> | undefined;
  /** The number of bytes in the queues of all streams. */
  #held = 0;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#places = new Places(options.maxStreams ?? MAX_STREAMS);
    this.#heartbeat = setInterval(() => this.#beat(), options.heartbeatMs ?? HEARTBEAT_MS);
    this.#tokenCheck = setInterval(() => void this.#checkTokens(), CHECK_TOKENS_MS);
    this.#heartbeat.unref();
    this.#tokenCheck.unref();
    this.#forgetRevoked = options.tokens.onRevoked((id) => this.#endOf(id));
  }

  get size(): number {
    return this.#all.size;
  }

  get stopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** The signal that aborts all waiting work when the server stops. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** The position up to which every record was pushed to the live streams. */
  get position(): number {
    return this.#position ?? 0;
  }

  /** Throws `too_many_streams` if no further stream may be opened. */
  mustHavePlace(who: Principal): void {
    this.#places.mustHaveOne(who);
  }

  /**
   * Opens a stream and returns the body of its answer, with server-sent events. `hangUp` closes the connection and drops its
   * unsent data. Throws `too_many_streams`, `store_unavailable`, and `bad_argument` for a position after the newest one.
   */
  async open(who: Principal, query: StreamQuery, hangUp?: () => void): Promise<ReadableStream<Uint8Array>> {
    const leave = this.#places.take(who);
    try {
      await this.#places.turn();
      await this.watch();
      // Without the store's position, no stream could know whether it has all records.
      if (this.#position === undefined)
        throw new EarpieceError('store_unavailable', 'the database cannot be read at the moment; try again', { retryable: true });
      const head = await this.#options.store.head();
      const { after = head } = query;
      if (after > head)
        throw new ProblemError(
          'bad_argument',
          `position ${after} is after the newest position of this database (${head}); read the history again and continue from the head in the answer`,
          { field: 'after' },
        );
      const stream = new Stream(this, { who, query, after, hangUp, leave }, this.#options);
      this.#all.add(stream);
      return stream.body;
    } catch (error) {
      leave();
      throw error;
    }
  }

  /**
   * Watches the store from now on, and counts its deliveries. Resolves after the first request to the store, even if that request
   * failed. Further calls change nothing.
   */
  watch(): Promise<void> {
    this.#ready ??= new Promise((started) => {
      // The counters are created with 0, because Prometheus ignores the first value of a counter.
      for (const record of CARRIERS) this.#options.metrics.count('earpiece_carried_total', { record }, 0);
      this.#running = this.#follow(started);
    });
    return this.#ready;
  }

  /** Stops watching the store, and ends all streams. */
  async stop(): Promise<void> {
    if (this.stopped) return this.#running;
    this.#stopping.abort();
    clearInterval(this.#heartbeat);
    clearInterval(this.#tokenCheck);
    this.#forgetRevoked();
    for (const stream of this.#all) stream.end();
    await this.#running;
  }

  /** Runs one read of a stream, with at most `READERS` reads at the same time. Streams call this method. */
  reading<T>(work: () => Promise<T>): Promise<T> {
    return this.#turns.take(work);
  }

  /**
   * Adds `more` bytes, which may be negative, to the size of all queues. Returns true if all queues together are too large.
   * Streams call this method.
   */
  holds(more: number): boolean {
    this.#held += more;
    return this.#held > (this.#options.maxHeldBytes ?? MAX_HELD_BYTES);
  }

  /** Makes a stream live. The stream must have every record up to the position. The stream calls this method itself. */
  join(stream: Stream): void {
    this.#live.add(stream);
  }

  leave(stream: Stream): void {
    this.#live.delete(stream);
    this.#all.delete(stream);
    stream.leave();
  }

  /** Watches the store until the hub stops. After an error of the store, the hub reports the error and tries again. */
  async #follow(started: () => void): Promise<void> {
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
        report(`the database cannot be watched: ${error instanceof Error ? error.message : String(error)}; trying again`);
        started();
        await new Promise((resolve) => {
          const timer = setTimeout(resolve, wait);
          signal.addEventListener('abort', () => (clearTimeout(timer), resolve(undefined)), { once: true });
        });
      }
    }
    // If the hub has stopped before, no request was sent, and the caller must not wait.
    started();
  }

  /**
   * Ends all streams after an older copy has replaced the database. A client that reconnects with a position after the newest one
   * gets an error.
   */
  async #anew(): Promise<void> {
    this.#position = await this.#options.store.head();
    for (const stream of this.#all) stream.cut('the database was replaced');
  }

  async #push(page: readonly Stored[]): Promise<void> {
    // The tokens are checked first, so that a stream whose token was revoked gets no later record.
    await this.#checkTokens();
    const encoded = new Map<Stored, Uint8Array>();
    const named = new Named(this.#options.store, page);
    let written = 0;
    // The loop includes streams that join during the loop. Such a stream skips the records that it already has.
    for (const stream of this.#live) {
      stream.push(page, await named.seenBy(stream.who), encoded);
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
        // The store does not answer. Streams could not read records either, so the tokens are checked later.
      }
    }
  }

  #endOf(id: string): void {
    for (const stream of this.#all) if (stream.who.id === id) stream.end();
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** The types of the records that can contain a delivery. */
const CARRIERS = ['carrier_confirmed', 'chat_request', 'tool_call_response'] as const satisfies readonly Draft['type'][];

const carries = (body: Draft): boolean =>
  isType(body, 'carrier_confirmed') ||
  ((isType(body, 'chat_request') || isType(body, 'tool_call_response')) && body.view !== undefined);
