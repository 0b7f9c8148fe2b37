import type { Frame } from './frames/frame.ts';

/** The connection to one upstream server, over any transport. */
export interface Link {
  /** Called once. Errors arrive as events. */
  start(): void;
  /**
   * Takes one frame. Its bytes end with a line break. False if the server does not keep up: `drain` follows. A frame sent while
   * no server runs is lost.
   */
  send(frame: Frame): boolean;
  /** Stops the server's output for a client that does not keep up; `resume` continues it. */
  pause(): void;
  resume(): void;
  /**
   * Ends the server if this process started it. May be called again to shorten the grace. Resolves when no process of it runs.
   */
  stop(options?: StopOptions): Promise<void>;
}

/** `graceMs`: how long the server may take to end by itself. */
export type StopOptions = { readonly graceMs?: number };

export type LinkEvents = {
  /** One frame from the server. Its bytes end with a line break. */
  readonly frame: (frame: Frame) => void;
  /** A frame was too long to hold. */
  readonly tooLong: (gone: TooLong) => void;
  /** A server runs again after `down`, without its earlier state. */
  readonly up: () => void;
  /** The server has ended: open requests get no answer. Another attempt follows in `againInMs`. */
  readonly down: (why: string, againInMs: number) => void;
  /** The server never worked, and no further attempt follows. */
  readonly gone: (why: string) => void;
  /** This request will get no answer; other requests still may. */
  readonly lost: (requestId: string, why: string) => void;
  /** The server cannot be reached at the moment, but may be later. It keeps its state. */
  readonly away: (why: string) => void;
  readonly back: () => void;
  /** `send` accepts frames again. */
  readonly drain: () => void;
};

export type TooLong = { readonly bytes: number; readonly head: Buffer; readonly tail: Buffer };

/** The link of a server that cannot be started. */
export const absentLink = (why: string, events: Pick<LinkEvents, 'gone'>): Link => ({
  start: () => events.gone(why),
  send: () => true,
  pause: () => {},
  resume: () => {},
  stop: async () => {},
});
