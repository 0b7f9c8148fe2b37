/** A subscriber as its file says it, checked. `subscribers/` holds the shipped ones, `folders.ts` finds them. */
import type { Severity } from '../core/event.ts';

/** What has an effect on when: critical interrupts, high and normal ride next, low waits for the end of the agent's cycle. */
export const PRIORITIES = ['critical', 'high', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** The seed's words for moments: `immediate` is now, `turn_start` the next cycle, `turn_end` the end of a cycle. */
export const INJECTION_POINTS = ['immediate', 'turn_start', 'after_tool', 'turn_end'] as const;
export type InjectAt = (typeof INJECTION_POINTS)[number];

export type Subscriber = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly events: {
    /** Exact types, or `prefix.*` for all that begin with `prefix.`. */
    readonly types: readonly string[];
    /** Events below it are not heard. */
    readonly severityFilter: Severity;
    /** Only events of these sources; undefined: any. */
    readonly sources?: readonly string[];
  };
  readonly batching: {
    /** 0: each event is a line of its own. Otherwise they are grouped, and an idle agent wakes so much later. */
    readonly windowMs: number;
    /** Most notifications in one line. */
    readonly maxSize: number;
    /** Paths such as `payload.tool_name`, joined by ":"; what has the same values is counted, not repeated. */
    readonly dedupeKey?: readonly string[];
    /** A repetition within it after the first was queued is told when it is over. */
    readonly dedupeWindowMs: number;
  };
  readonly output: {
    readonly priority: Priority;
    readonly injectAt: InjectAt;
    /** Undefined where its file is missing: then the generic view says it. */
    readonly template?: Template;
    /** Cannot be disabled. */
    readonly core: boolean;
    /** `source.name` instead of the event's type. */
    readonly kind?: string;
    /** The newest state wins, instead of being counted. */
    readonly supersede: boolean;
  };
  /** Events that take back what is open under the same dedupe key: the state is gone. */
  readonly withdraw?: { readonly types: readonly string[] };
  /** A minijinja expression over `event`, `payload`, `type`, `source`, `severity`: only where it is true. */
  readonly condition?: { readonly expression: string };
  /** Where it comes from; a later folder's wins over an earlier one's. */
  readonly from: { readonly folder: FolderName; readonly file: string };
};

/** `hash`: SHA-256 of the text, hex. */
export type Template = { readonly name: string; readonly text: string; readonly hash: string };

export const FOLDERS = ['shipped', 'user', 'project', 'program'] as const;
export type FolderName = (typeof FOLDERS)[number];

/** What is wrong with a file. Lines and columns from 1. `warning`: it loads all the same. */
export type SubscriberProblem = {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
};

/** `held`: a project's that do not count until they are trusted. */
export type SubscriberSet = {
  readonly subscribers: readonly Subscriber[];
  readonly held?: readonly Subscriber[];
  readonly problems: readonly SubscriberProblem[];
};

/** The subscribers of a project as they are now; the same object as long as nothing changed. Must not throw. */
export interface SubscriberSource {
  of(project: string): SubscriberSet;
}
