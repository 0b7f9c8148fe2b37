import type { Frame } from './frames/frame.ts';

/** The way to one upstream server, whatever it is made of. */
export interface Link {
  /** Called once. What goes wrong comes as an event. */
  start(): void;
  /** Takes one frame. Its bytes end with a line break. False when the server does not keep up: `drain` follows. Lost while there is no server. */
  send(frame: Frame): boolean;
  /** Stops and continues what comes from the server, for a client that does not keep up. */
  pause(): void;
  resume(): void;
  /** Ends the server as far as it is ours. May be called again to shorten the grace. Resolves when nothing of it is left. */
  stop(options?: StopOptions): Promise<void>;
}

/** `graceMs`: how long the server may take to end by itself. */
export type StopOptions = { readonly graceMs?: number };

export type LinkEvents = {
  /** One frame from the server. Its bytes end with a line break. */
  readonly frame: (frame: Frame) => void;
  /** One that was too long to hold. */
  readonly tooLong: (gone: TooLong) => void;
  /** There is a server again after `down`, and it knows nothing of what was before. */
  readonly up: () => void;
  /** The server has gone: what is open will not be answered. Another try follows in `againInMs`. */
  readonly down: (why: string, againInMs: number) => void;
  /** It never worked and nobody will try again. */
  readonly gone: (why: string) => void;
  /** This request will get no answer; the others may. */
  readonly lost: (requestId: string, why: string) => void;
  /** The server cannot be reached at the moment, and can be again. Nothing of what it knew is lost. */
  readonly away: (why: string) => void;
  readonly back: () => void;
  /** `send` has room again. */
  readonly drain: () => void;
};

export type TooLong = { readonly bytes: number; readonly head: Buffer; readonly tail: Buffer };

/** The way to a server that cannot be started. */
export const absentLink = (why: string, events: Pick<LinkEvents, 'gone'>): Link => ({
  start: () => events.gone(why),
  send: () => true,
  pause: () => {},
  resume: () => {},
  stop: async () => {},
});
