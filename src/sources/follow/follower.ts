/**
 * A follower checks one thing outside: a pull request, a log file, an address. A check returns states and news. A state is open
 * until a check no longer finds it, and then its notification is withdrawn. News are reported once.
 */
import type { Event, EventInput, Severity } from '../../core/event.ts';
import type { Json } from '../../core/json.ts';

type Told = {
  readonly type: string;
  readonly severity: Exclude<Severity, 'critical'>;
  readonly message: string;
  readonly data: Event['data'];
};

/** A state that lasts. `key` identifies the state in this follower. A state whose `fingerprint` changes is reported again. */
export type Standing = Told & { readonly key: string; readonly fingerprint: string };

/** An event that happened once. News with the same `id` are reported once. News with one `key` are counted in one line. */
export type News = Told & { readonly id: string; readonly key?: string };

export type Look = {
  /** All open states. A state that is missing here has ended. */
  readonly standing: readonly Standing[];
  readonly news: readonly News[];
  /** Complete events of a source, with their own keys, for the subscribers of that source. Their `subject` is filled in. */
  readonly events?: readonly EventInput[];
  /** The follower's memory for its next check. */
  readonly state: Json;
  /** One line for `earpiece following`. */
  readonly summary: string;
  /** The time until the next check, in ms. */
  readonly againMs: number;
  /** The reason why the thing has ended, such as `merged`. It is then no longer checked. */
  readonly over?: string;
};

export interface Follower {
  /** Checks the thing. `state` is the state from the last complete check. Throws `CannotLook` if the thing cannot be checked. */
  look(state: Json | undefined, signal: AbortSignal): Promise<Look>;
  /** Ends a follower that keeps a process between its checks. Until then, one object makes all checks. */
  end?(): Promise<void>;
}

/** The error if a thing cannot be checked now. The message says why, and what to do. */
export class CannotLook extends Error {
  /** Whether the problem lasts until a person solves it. The agent is then notified at once. */
  readonly lasting: boolean;
  /** The shortest time until the next check, in ms. */
  readonly againMs: number | undefined;

  constructor(message: string, { lasting = false, againMs }: { readonly lasting?: boolean; readonly againMs?: number } = {}) {
    super(message);
    this.lasting = lasting;
    this.againMs = againMs;
  }
}
