/**
 * A follower looks at one thing outside: a pull request, a log file, an address. A look returns states and news. A state
 * stands until a look no longer finds it; then its notification is withdrawn. News happen once.
 */
import type { Event, EventInput, Severity } from '../../core/event.ts';
import type { Json } from '../../core/json.ts';

type Told = {
  readonly type: string;
  readonly severity: Exclude<Severity, 'critical'>;
  readonly message: string;
  readonly data: Event['data'];
};

/** A state that lasts. `key`: the same state, unique in this follower. Another `fingerprint` is reported anew. */
export type Standing = Told & { readonly key: string; readonly fingerprint: string };

/** Something that happened once. The same `id` is reported once. News with one `key` are counted in one line. */
export type News = Told & { readonly id: string; readonly key?: string };

export type Look = {
  /** All that stands now. A state that is missing here is over. */
  readonly standing: readonly Standing[];
  readonly news: readonly News[];
  /** Complete events of a source, with their own keys, for the subscribers of that source. Their `subject` is filled in. */
  readonly events?: readonly EventInput[];
  /** The memory for the next look. */
  readonly state: Json;
  /** For `earpiece following`. */
  readonly summary: string;
  /** When to look again, in ms. */
  readonly againMs: number;
  /** It ended, so nobody looks any more: `merged`. */
  readonly over?: string;
};

export interface Follower {
  /** `state`: what the last whole look gave. Throws `CannotLook` if the thing cannot be seen. */
  look(state: Json | undefined, signal: AbortSignal): Promise<Look>;
  /** For a follower that keeps a process between its looks: one object then looks until this is called. */
  end?(): Promise<void>;
}

/** The thing cannot be seen now. The message says why, and what to do. */
export class CannotLook extends Error {
  /** It will not pass by itself, so the agent hears of it at once. */
  readonly lasting: boolean;
  /** Look again after this time at the earliest. */
  readonly againMs: number | undefined;

  constructor(message: string, { lasting = false, againMs }: { readonly lasting?: boolean; readonly againMs?: number } = {}) {
    super(message);
    this.lasting = lasting;
    this.againMs = againMs;
  }
}
