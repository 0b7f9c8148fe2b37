/** The stream of records, over as many connections as it takes: none is missed and none comes twice. */
import { createParser } from 'eventsource-parser';
import type { Stored } from '../core/records.ts';
import { ApiError, errorOf, notEarpiece, unreachable } from './problem.ts';

export type StreamQuery = {
  readonly log?: string;
  readonly project?: string;
  readonly conversation?: string;
  /** Only these types of records. */
  readonly types?: readonly string[];
  /** Everything after this position first (`head` of a history page); default: only what comes from now on. */
  readonly after?: number;
};

export type StreamOptions = StreamQuery & {
  readonly signal?: AbortSignal;
  /** Told of each change, for whoever shows whether what is seen is up to date. */
  readonly onState?: (state: StreamState) => void;
  /** Longest pause between tries. Default 30 s. */
  readonly maxBackoffMs?: number;
};

export type StreamState =
  | { readonly kind: 'live'; readonly after: number }
  | { readonly kind: 'away'; readonly error: ApiError; readonly againInMs: number };

const FIRST_BACKOFF_MS = 250;
/** Three heartbeats: a connection that is silent that long is dead. */
const SILENT_MS = 45_000;

type Connect = (url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) => Promise<Response>;

/** Ends when `signal` aborts; throws `ApiError` for what trying again cannot help (a token that is not valid any more). */
export async function* records(options: StreamOptions, connect: Connect): AsyncGenerator<Stored, void, undefined> {
  const { signal, onState, maxBackoffMs = 30_000 } = options;
  const query = new URLSearchParams();
  for (const name of ['log', 'project', 'conversation'] as const) if (options[name] !== undefined) query.set(name, options[name]);
  if (options.types !== undefined) query.set('types', options.types.join(','));
  let { after } = options;
  let backoff = FIRST_BACKOFF_MS;
  while (!signal?.aborted) {
    const lost = new AbortController();
    const until = signal === undefined ? lost.signal : AbortSignal.any([signal, lost.signal]);
    let failure: unknown;
    try {
      if (after !== undefined) query.set('after', String(after));
      const url = `/api/stream${query.size === 0 ? '' : `?${query.toString()}`}`;
      const headers = { accept: 'text/event-stream', ...(after === undefined ? {} : { 'last-event-id': String(after) }) };
      const response = await connect(url, headers, until);
      if (!response.ok || response.body === null) throw await errorOf(response);
      if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
        void response.body.cancel().catch(() => undefined);
        throw notEarpiece(response, 'answered with what is no stream');
      }
      for await (const event of eventsOf(response.body, lost)) {
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
      lost.abort();
    }
    if (signal?.aborted) return;
    const error = failure instanceof ApiError ? failure : unreachable('the stream', failure);
    if ((error.status === 200 || (error.status >= 400 && error.status < 500)) && error.status !== 429 && error.status !== 408)
      throw error;
    // Spread, so that a thousand clients of a server that was restarted do not come in one moment.
    const againInMs = Math.round(error.retryAfterMs ?? backoff * (0.5 + Math.random() / 2));
    onState?.({ kind: 'away', error, againInMs });
    await pause(againInMs, signal);
    backoff = Math.min(backoff * 2, maxBackoffMs);
  }
}

type Event = { readonly kind: 'ready'; readonly after: number } | { readonly kind: 'record'; readonly record: Stored };

async function* eventsOf(body: ReadableStream<Uint8Array>, lost: AbortController): AsyncGenerator<Event, void, undefined> {
  const events: Event[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (event === 'record') events.push({ kind: 'record', record: JSON.parse(data) as Stored });
      else if (event === 'ready') events.push({ kind: 'ready', after: (JSON.parse(data) as { after: number }).after });
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let silent = setTimeout(() => lost.abort(), SILENT_MS);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      clearTimeout(silent);
      silent = setTimeout(() => lost.abort(), SILENT_MS);
      parser.feed(decoder.decode(value, { stream: true }));
      yield* events.splice(0);
    }
  } finally {
    clearTimeout(silent);
    reader.cancel().catch(() => undefined);
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
