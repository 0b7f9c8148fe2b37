import { setTimeout as sleep } from 'node:timers/promises';

import type { Outgoing } from './riding/carry.ts';
import { errorFrame, type Frame } from '../mcp/frames/frame.ts';
import type { Link, StopOptions, TooLong } from '../mcp/link.ts';
import type { MakeLink } from '../mcp/links.ts';
import { idIn, tooLongMessage } from '../mcp/too-long.ts';
import { INVALID_REQUEST } from '../mcp/frames/protocol.ts';
import { Relay, type RelayOptions } from './relay.ts';
import type { UpstreamEvent } from './riding/rider.ts';
import type { Settling } from './riding/settling.ts';
import type { Upstream } from '../mcp/upstream.ts';

/** The servers as one client sees them. A front passes the client's frames to the client's endpoint. */
export interface Endpoint {
  start(): void;
  fromClient(frame: Frame): void;
  /** Reports a client's frame that is too long to keep in memory. If the frame's id can be found, the client gets an error. */
  clientFrameTooLong(frame: TooLong): void;
  /**
   * Treats a call whose client disconnected as cancelled, so that the answer has no notification. In the older generation, a
   * disconnect does not ask the server to stop.
   */
  abandon(requestId: string): void;
  /**
   * Continues to send frames to the client after `channel.send` returned false. The front calls `resume` when the client reads
   * fast enough again.
   */
  resume(): void;
  /** Whether the client waits for an answer. */
  readonly busy: boolean;
  /** Whether the gateway still holds a request or an answer, for example until its server has started. */
  readonly holding: boolean;
  /** Records that the client may read nothing more, so results that arrive from now on carry no notifications. */
  clientEnded(): void;
  close(options?: StopOptions): Promise<void>;
}

/** A session's channel to its client. */
export type Channel = {
  /**
   * Sends a frame to the client. Returns false if the client does not read fast enough. The front then calls `resume()` of the
   * endpoint when the client reads again.
   */
  readonly send: (out: Outgoing) => boolean;
  readonly pause: () => void;
  readonly resume: () => void;
  /** The session calls `ended` when the server has ended for good. */
  readonly ended: (why: string) => void;
};

/** Makes the endpoint of a client. The caller starts the endpoint. */
export type MakeEndpoint = (client: {
  readonly key: string;
  readonly session?: string;
  readonly settling: Settling;
  readonly channel: Channel;
}) => Endpoint;

export type SessionOptions = Pick<RelayOptions, 'rider' | 'catalog' | 'key' | 'session' | 'profile' | 'settling' | 'partOf'> & {
  readonly upstream: Upstream;
  readonly link: MakeLink;
  readonly channel: Channel;
  readonly report: (line: string) => void;
  /** Gets an event when the server disconnects, reconnects or fails. Default: the rider gets the event. */
  readonly tell?: (event: UpstreamEvent) => void;
};

/** If the server fails before the client's first request, the report of the failure waits at most this long for that request. */
const INTRODUCTION_MS = 2_000;

/** Connects one client to a server with a separate link: relays frames between the front's channel and that link. */
export class Session implements Endpoint {
  readonly #options: SessionOptions;
  readonly #relay: Relay;
  readonly #link: Link;

  constructor(options: SessionOptions) {
    const { upstream, channel } = options;
    const server = upstream.name;
    this.#options = options;
    this.#relay = new Relay({
      ...options,
      server,
      toClient: (out) => {
        if (!channel.send(out)) this.#link.pause();
      },
      toServer: (frame) => {
        if (!this.#link.send(frame)) channel.pause();
      },
    });
    this.#link = options.link(upstream, {
      frame: (frame) => this.#relay.fromServer(frame),
      tooLong: (frame) => this.#serverFrameTooLong(frame),
      drain: () => channel.resume(),
      up: () => void this.#up(),
      lost: (requestId, why) => this.#relay.lostAnswer(requestId, why),
      away: (why) => this.#tell('disconnected', why),
      back: () => this.#tell('reconnected', 'it answers again'),
      down: (why, againInMs) => {
        this.#tell('disconnected', `${why}; trying again in ${againInMs / 1000} s`);
        this.#relay.serverDown(
          `The MCP server "${server}" stopped during this call (${why}). The server is being restarted. The call may have taken effect.`,
        );
      },
      failed: (why) => void this.#ended(why),
    });
  }

  start(): void {
    this.#link.start();
  }

  fromClient(frame: Frame): void {
    this.#relay.fromClient(frame);
  }

  clientFrameTooLong(frame: TooLong): void {
    refuseTooLong(frame, this.#options);
  }

  abandon(requestId: string): void {
    this.#relay.abandon(requestId);
  }

  resume(): void {
    this.#link.resume();
  }

  get busy(): boolean {
    return this.#relay.busy;
  }

  get holding(): boolean {
    return this.#relay.holding;
  }

  clientEnded(): void {
    this.#relay.clientEnded();
  }

  async close(options?: StopOptions): Promise<void> {
    await this.#link.stop(options);
    this.#relay.close();
  }

  async #ended(why: string): Promise<void> {
    const { channel, partOf, upstream } = this.#options;
    this.#relay.serverGone(`The MCP server "${upstream.name}" does not work: ${why}.`);
    // Before the client identifies itself, no conversation can be notified and no handshake can be answered.
    if (!partOf) await Promise.race([this.#relay.introduced, sleep(INTRODUCTION_MS, undefined, { ref: false })]);
    this.#tell('failed', why);
    channel.ended(why);
  }

  async #up(): Promise<void> {
    const outcome = await this.#relay.serverUp();
    if (outcome === true) this.#tell('reconnected', 'it runs again');
    else if (outcome !== undefined) this.#tell('failed', outcome);
  }

  #tell(state: 'disconnected' | 'reconnected' | 'failed', detail: string): void {
    const { key, report, rider, upstream, tell = (event: UpstreamEvent) => rider.upstream(event, key) } = this.#options;
    report(`MCP server "${upstream.name}" ${state}: ${detail}`);
    tell({ server: upstream.name, state, detail });
  }

  #serverFrameTooLong({ bytes, head, tail }: TooLong): void {
    const why = tooLongMessage(`the MCP server "${this.#options.upstream.name}"`, bytes);
    this.#options.report(why);
    const id = idIn(head, tail);
    if (id !== undefined) this.#relay.lostAnswer(id, why);
  }
}

/** Reports that a client's frame was too long. If the frame's id can be found, the client gets an error with this id. */
export function refuseTooLong(
  { bytes, head, tail }: TooLong,
  { channel, report }: { readonly channel: Channel; readonly report: (line: string) => void },
): void {
  const why = tooLongMessage('the client', bytes);
  const id = idIn(head, tail);
  report(why);
  if (id !== undefined) channel.send({ bytes: errorFrame(id, INVALID_REQUEST, why) });
}
