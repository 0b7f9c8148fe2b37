/** Starts several servers in parallel: no server waits for another, and the client waits for a limited time. */
import { setTimeout as sleep } from 'node:timers/promises';

import type { Peer } from '../peer.ts';
import type { UpstreamEvent } from '../riding/rider.ts';
import type { Introduction } from './introduction.ts';

/** How long the client and its calls wait for servers, in milliseconds. */
export type Patience = {
  /**
   * How long the answer to server/discover waits for servers. Claude Code 2.1.330 probes with this request. Claude Code treats a
   * server without an answer 3 s after its start as a server of the older generation.
   */
  readonly probeMs: number;
  /**
   * How long a server may take to start and to answer the gateway's server/discover. After this time, the gateway treats the
   * server as one of the older generation, which may ignore this request.
   */
  readonly discoverMs: number;
  /**
   * The longest time that a client waits for servers, unless the client reads its lists only once. The client's first lists have
   * the entries of the servers that are ready when the wait ends. list_changed announces later servers.
   */
  readonly graceMs: number;
  /**
   * How long a client that reads its lists only once (`Profile.listsOnce`) waits for servers. Such a client never sees later
   * servers.
   */
  readonly onceMs: number;
  /**
   * How long the gateway waits for the other servers after the first server is ready. The time is short, so that ready tools do
   * not wait for slow servers.
   */
  readonly othersMs: number;
  /** How long a server may take before the agent is notified that the server does not work. */
  readonly hangsMs: number;
  /** How long a call waits for a server that is still starting. */
  readonly callMs: number;
  /**
   * How long a list waits for a server. A slower server is left out of the list. When this server answers, the client gets
   * list_changed.
   */
  readonly listMs: number;
};

export const PATIENCE: Patience = {
  probeMs: 500,
  discoverMs: 5_000,
  graceMs: 2_000,
  onceMs: 12_000,
  othersMs: 300,
  hangsMs: 15_000,
  callMs: 20_000,
  listMs: 3_000,
};

/** The first delay and the longest delay before another handshake with a server that failed the previous handshake. */
const RETRY_MS = 5_000;
const MAX_RETRY_MS = 60_000;

export type StartingOptions = {
  readonly peers: readonly Peer[];
  readonly patience: Patience;
  readonly tell: (event: UpstreamEvent) => void;
  /** Gets each server that becomes ready after `begin` has ended. */
  readonly came: (peer: Peer) => void;
};

export class Starting {
  readonly #options: StartingOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #settled = new Map<Peer, PromiseWithResolvers<void>>();
  #late = false;
  #ended = false;

  constructor(options: StartingOptions) {
    this.#options = options;
    for (const peer of options.peers) this.#settled.set(peer, Promise.withResolvers<void>());
  }

  /** Whether some server may still become ready. */
  get pending(): boolean {
    return this.#options.peers.some((peer) => !peer.ready && peer.mayCome);
  }

  /**
   * Resolves when all servers are ready or have failed, or when the wait ends: with `listsOnce` after `onceMs`, otherwise after
   * `graceMs`, or `othersMs` after the first ready server.
   */
  async begin(who: Introduction, { listsOnce = false }: { readonly listsOnce?: boolean } = {}): Promise<void> {
    const { graceMs, onceMs, othersMs } = this.#options.patience;
    const starting = this.#options.peers.map((peer) => this.#start(peer, who));
    const all = Promise.all(starting);
    const first = new Promise<void>((resolve) => {
      for (const one of starting) void one.then((ready) => ready && resolve());
    });
    await (listsOnce ? within(onceMs, all) : within(graceMs, Promise.race([all, first.then(() => within(othersMs, all))])));
    this.#late = true;
  }

  /** Resolves to true when the server is ready or has failed its first handshake, and to false after `callMs`. */
  async settled(peer: Peer): Promise<boolean> {
    return peer.ready || (await within(this.#options.patience.callMs, this.#settled.get(peer)!.promise));
  }

  end(): void {
    this.#ended = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async #start(peer: Peer, who: Introduction, retryMs: number = RETRY_MS): Promise<boolean> {
    const { hangsMs } = this.#options.patience;
    const hangs = this.#after(hangsMs, () => {
      const detail = `no answer for ${hangsMs / 1000} s; tools are added when the server answers`;
      this.#options.tell({ server: peer.name, state: 'failed', detail });
    });
    const ready = await peer.start(who);
    this.#cancel(hangs);
    this.#settled.get(peer)!.resolve();
    if (this.#ended) return false;
    if (ready) {
      if (this.#late) this.#options.came(peer);
      return true;
    }
    if (peer.mayCome) this.#after(retryMs, () => void this.#start(peer, who, Math.min(retryMs * 2, MAX_RETRY_MS)));
    return false;
  }

  #after(ms: number, work: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
    return timer;
  }

  #cancel(timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.#timers.delete(timer);
  }
}

/** Whether the work ends within `ms` milliseconds. */
export async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const timeout = new AbortController();
  const late = sleep(ms, false, { signal: timeout.signal }).catch(() => false);
  const done = await Promise.race([work.then(() => true), late]);
  timeout.abort();
  return done;
}
