import type { Frame } from './frames/frame.ts';

/** The connection to one upstream server, over any transport. */
export interface Link {
  /** Starts the link, once. Errors arrive as events. */
  start(): void;
  /**
   * Sends one frame, whose bytes end with a line break. Returns false if the server does not read fast enough. `drain` is called
   * when the link accepts frames again. A frame is lost if no server runs.
   */
  send(frame: Frame): boolean;
  /** Stops the server's output, for a client that does not read fast enough. `resume` continues the output. */
  pause(): void;
  resume(): void;
  /**
   * Ends the server if this process started it. Resolves when none of the server's processes runs. May be called again with a
   * shorter grace time.
   */
  stop(options?: StopOptions): Promise<void>;
}

/** `graceMs` is how long the server may take to end by itself, or over HTTP to answer the open requests. */
export type StopOptions = { readonly graceMs?: number };

export type LinkEvents = {
  /** Called with each frame from the server. The bytes of a frame end with a line break. */
  readonly frame: (frame: Frame) => void;
  /** Called for a frame of more than 64 MiB. */
  readonly tooLong: (frame: TooLong) => void;
  /** Called when a server runs again after `down`. The server has lost its earlier state. */
  readonly up: () => void;
  /** Called when the server has ended. Open requests get no answer. The link tries again in `againInMs`. */
  readonly down: (why: string, againInMs: number) => void;
  /** Called when the server never worked, and the link does not try again. */
  readonly failed: (why: string) => void;
  /** Called when one request will get no answer. Other requests may still get an answer. */
  readonly lost: (requestId: string, why: string) => void;
  /** Called when the server cannot be reached for now. The server may still have its state. */
  readonly away: (why: string) => void;
  readonly back: () => void;
  /** Called when `send` accepts frames again. */
  readonly drain: () => void;
};

export type TooLong = { readonly bytes: number; readonly head: Buffer; readonly tail: Buffer };

/** Makes the link for a server that cannot be started. */
export const absentLink = (why: string, events: Pick<LinkEvents, 'failed'>): Link => ({
  start: () => events.failed(why),
  send: () => true,
  pause: () => {},
  resume: () => {},
  stop: async () => {},
});
