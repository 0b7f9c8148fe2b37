/**
 * A follower checks one external thing, such as a pull request, a log file or a URL. A check returns states and news. A state is
 * open until a check no longer finds the state. The notification of an ended state is withdrawn. Each news item is reported once.
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

/**
 * An event that happened once. News items with the same `id` are reported only once. News items with the same `key` are counted
 * in one line.
 */
export type News = Told & {
  readonly id: string;
  readonly key?: string;
  /**
   * The key of a state that ends. If an agent has not read about the state, the state's notification is withdrawn, and the agent
   * does not get this news item.
   */
  readonly endOf?: string;
};

export type Look = {
  /** All open states. A state that is missing from this list has ended. */
  readonly standing: readonly Standing[];
  readonly news: readonly News[];
  /** Complete events of a source, with their keys, for the subscribers of that source. The caller sets their `subject`. */
  readonly events?: readonly EventInput[];
  /** The follower's memory for its next check. */
  readonly state: Json;
  /** One line for `earpiece following`. */
  readonly summary: string;
  /** The default time until the next check, in ms. 0: at once. */
  readonly againMs: number;
  /** The reason why the thing has ended, such as `merged`. The thing is then no longer checked. */
  readonly over?: string;
};

export interface Follower {
  /** Checks the thing. `state` is the state from the last complete check. Throws `CannotLook` if the thing cannot be checked. */
  look(state: Json | undefined, signal: AbortSignal): Promise<Look>;
  /** Ends a follower that keeps a process between its checks. Such a follower is one object for all its checks. */
  end?(): Promise<void>;
}

/** The error for a thing that cannot be checked now. The message names the reason. */
export class CannotLook extends Error {
  /** Whether the problem lasts until a person solves it. The agent is notified of such a problem at once. */
  readonly lasting: boolean;
  /** The shortest time until the next check, in ms. */
  readonly againMs: number | undefined;
  /** The time until each next check, in ms, for a thing of this machine. By default, the time grows with each failed check. */
  readonly everyMs: number | undefined;

  constructor(
    message: string,
    { lasting = false, againMs, everyMs }: Partial<Pick<CannotLook, 'lasting' | 'againMs' | 'everyMs'>> = {},
  ) {
    super(message);
    this.lasting = lasting;
    this.againMs = againMs;
    this.everyMs = everyMs;
  }
}
