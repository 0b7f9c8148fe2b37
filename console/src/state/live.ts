/**
 * Opens one stream for the whole page, because browsers open only six connections to a server for all tabs together. After an
 * interruption, the stream continues at its last position, so a listener gets each record once and in order.
 *
 * - **connecting**: the page opens the stream.
 * - **live**: the page shows all records that the stream has sent.
 * - **away**: the connection is closed, or open and silent. The page shows the data of the time `since`, and retries at
 *   `againAt`.
 * - **resting**: the page was hidden for a while, so its connection was closed.
 * - **over**: this browser is not logged in.
 */
import { ApiError, type StreamState } from '../../../src/wire/client/index.ts';
import type { Stored } from '../../../src/core/records.ts';
import { Cell } from './cell.ts';
import { client } from './server.ts';

export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'live' }
  | { readonly kind: 'away'; readonly since: number; readonly againAt: number; readonly why: string }
  | { readonly kind: 'resting' }
  | { readonly kind: 'over' };

export const connection = new Cell<Connection>({ kind: 'connecting' });
/** A number that increases when records may be missing. All data is then loaded again. */
export const generation = new Cell(0);

type Listener = (records: readonly Stored[]) => void;
const listeners = new Set<Listener>();

/** Adds a listener, which gets the new records in small groups. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** How long records are collected before the page changes, in ms: one refresh of the display. */
const TOGETHER_MS = 16;
const REST_AFTER_MS = 60_000;

let position: number | undefined;
let running: AbortController | undefined;
let waiting: Stored[] = [];
let onOver: () => void = () => {};
/** Whether records may be missing, so that all data is loaded again when the stream is live. */
let anew = false;

export function start(from: number, over: () => void): void {
  position ??= from;
  onOver = over;
  run();
}

function run(): void {
  if (running !== undefined) return;
  running = new AbortController();
  void follow(running.signal);
}

async function follow(signal: AbortSignal): Promise<void> {
  const onState = (state: StreamState): void => {
    if (signal.aborted) return;
    const before = connection.value;
    if (state.kind === 'live') {
      connection.set({ kind: 'live' });
      if (anew) generation.set(generation.value + 1);
      anew = false;
    } else
      connection.set({
        kind: 'away',
        since: before.kind === 'away' ? before.since : Date.now() - state.silentMs,
        againAt: Date.now() + state.againInMs,
        why: state.error.message,
      });
  };
  while (!signal.aborted) {
    try {
      for await (const record of client.stream({
        ...(position === undefined ? {} : { after: position }),
        onState,
        signal,
        maxBackoffMs: 5_000,
      })) {
        position = record.seq;
        if (waiting.length === 0) setTimeout(hand, TOGETHER_MS);
        waiting.push(record);
      }
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.code === 'bad_argument') {
        // The server now has another store, so all data on the page may be wrong.
        position = undefined;
        anew = true;
        continue;
      }
      connection.set({ kind: 'over' });
      running = undefined;
      onOver();
      return;
    }
  }
}

function hand(): void {
  const records = waiting;
  waiting = [];
  for (const listener of listeners) listener(records);
}

let rest: ReturnType<typeof setTimeout> | undefined;
document.addEventListener('visibilitychange', () => {
  clearTimeout(rest);
  if (document.visibilityState === 'hidden')
    rest = setTimeout(() => {
      if (running === undefined) return;
      running.abort();
      running = undefined;
      connection.set({ kind: 'resting' });
    }, REST_AFTER_MS);
  else if (connection.value.kind === 'resting') {
    connection.set({ kind: 'connecting' });
    run();
  }
});
