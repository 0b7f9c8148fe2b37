/** Streams records over as many connections as needed, without missing or repeating a record. */
import { createParser } from 'eventsource-parser';
import type { RecordType } from '../../core/record-types.ts';
import type { Stored } from '../../core/records.ts';
import { ApiError, errorOf, notEarpiece, unreachable } from './problem.ts';

export type StreamQuery = {
  readonly log?: string;
  readonly project?: string;
  readonly conversation?: string;
  /** The types of the streamed records. Default: all types. */
  readonly types?: readonly RecordType[];
  /** The position after which records are streamed, such as the `head` of a history page. Default: only new records. */
  readonly after?: number;
};

export type StreamOptions = StreamQuery & {
  readonly signal?: AbortSignal;
  /** Gets each change of the connection, so that a display can show whether its data is current. */
  readonly onState?: (state: StreamState) => void;
  /** The longest delay between attempts, in ms, unless the server asks for a longer delay. Default: 30 s. */
  readonly maxBackoffMs?: number;
};

export type StreamState =
  | { readonly kind: 'live'; readonly after: number }
  | {
      readonly kind: 'away';
      readonly error: ApiError;
      readonly againInMs: number;
      /** How long the open connection was silent, or 0 if it was closed. */
      readonly silentMs: number;
    };

const FIRST_BACKOFF_MS = 250;
/** Two and a half heartbeats. An open connection that is silent for this long counts as broken. */
const SILENT_MS = 25_000;
const LOOK_MS = 2_500;

type Connect = (url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>;

/**
 * Yields records until `signal` aborts. Throws `ApiError` for an error that a retry cannot fix, such as a token that is no longer
 * valid.
 */
export async function* records(options: StreamOptions, connect: Connect): AsyncGenerator<Stored, void, undefined> {
  const { signal, onState, maxBackoffMs = 30_000 } = options;
  const query = new URLSearchParams();
  for (const name of ['log', 'project', 'conversation'] as const) if (options[name] !== undefined) query.set(name, options[name]);
  if (options.types !== undefined) query.set('types', String(options.types));
  let { after } = options;
  let backoff = FIRST_BACKOFF_MS;
  while (!signal?.aborted) {
    const lost = new AbortController();
    const until = signal === undefined ? lost.signal : AbortSignal.any([signal, lost.signal]);
    const silence = new Silence(() => lost.abort());
    let failure: unknown;
    try {
      if (after !== undefined) query.set('after', String(after));
      const url = `/api/stream${query.size === 0 ? '' : `?${query.toString()}`}`;
      const headers = { accept: 'text/event-stream', ...(after === undefined ? {} : { 'last-event-id': String(after) }) };
      const response = await connect(url, headers, until);
      if (!response.ok || response.body === null) throw await errorOf(response);
      if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
        void response.body.cancel().catch(() => undefined);
        throw notEarpiece(response, 'did not answer with an event stream');
      }
      for await (const event of eventsOf(response.body, silence)) {
        if (event.kind === 'ready') {
          backoff = FIRST_BACKOFF_MS;
          after ??= event.after;
          onState?.({ kind: 'live', after });
        } else if (after === undefined || event.record.seq > after) {
          after = event.record.seq;
          yield event.record;
        }
      }
    } catch (error) {
      failure = error;
    } finally {
      silence.end();
      lost.abort();
    }
    if (signal?.aborted) return;
    const error =
      silence.brokenMs > 0
        ? stalled(silence.brokenMs)
        : failure instanceof ApiError
          ? failure
          : unreachable('the stream', failure);
    if ((error.status === 200 || (error.status >= 400 && error.status < 500)) && error.status !== 429 && error.status !== 408)
      throw error;
    // Without a delay from the server, the delay is random, so that the clients of a restarted server do not reconnect at the
    // same moment.
    const againInMs = Math.round(error.retryAfterMs ?? backoff * (0.5 + Math.random() / 2));
    onState?.({ kind: 'away', error, againInMs, silentMs: silence.brokenMs });
    await pause(againInMs, signal);
    backoff = Math.min(backoff * 2, maxBackoffMs);
  }
}

type Event = { readonly kind: 'ready'; readonly after: number } | { readonly kind: 'record'; readonly record: Stored };

async function* eventsOf(body: ReadableStream<Uint8Array>, silence: Silence): AsyncGenerator<Event, void, undefined> {
  const events: Event[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (event === 'record') events.push({ kind: 'record', record: JSON.parse(data) as Stored });
      else if (event === 'ready') events.push({ kind: 'ready', after: (JSON.parse(data) as { after: number }).after });
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      silence.waits();
      const { done, value } = await reader.read();
      silence.heard();
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

const stalled = (forMs: number): ApiError =>
  new ApiError(0, {
    code: 'unreachable',
    detail: `the stream is open, but nothing has arrived for ${Math.round(forMs / 1_000)} s`,
    retryable: true,
  });

/**
 * Aborts a connection that is silent for too long while a reader waits. A `Silence` is active from the request until the end of
 * the stream.
 */
class Silence {
  /** How long the connection was silent when it was aborted. 0 if the connection was not aborted. */
  brokenMs = 0;
  /** The time at which the reader began to wait. Undefined while the reader handles records. */
  #since: number | undefined = Date.now();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(breakOff: () => void) {
    // The wall clock decides, so that a machine that slept notices the silence as soon as the machine wakes.
    this.#timer = setInterval(() => {
      if (this.#since === undefined) return;
      const silentMs = Date.now() - this.#since;
      if (silentMs < 0) this.waits();
      if (silentMs < SILENT_MS) return;
      this.brokenMs = silentMs;
      this.end();
      breakOff();
    }, LOOK_MS);
  }

  waits(): void {
    this.#since = Date.now();
  }

  heard(): void {
    this.#since = undefined;
  }

  end(): void {
    clearInterval(this.#timer);
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal?.addEventListener('abort', end, { once: true });
  });
}
