/** A subscriber as its file defines it, checked. `subscribers/` holds the shipped ones, `folders.ts` finds them. */
import type { Severity } from '../core/event.ts';

/**
 * The priority decides the moment. critical interrupts, high and normal are delivered next, low waits for the end of the
 * agent's cycle.
 */
export const PRIORITIES = ['critical', 'high', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

/**
 * The words of an earlier design for moments: `immediate` is now, `turn_start` is the next cycle, `turn_end` is the end of a
 * cycle.
 */
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
    /** Events below this severity are ignored. */
    readonly severityFilter: Severity;
    /** Only events of these sources; undefined: any. */
    readonly sources?: readonly string[];
  };
  readonly batching: {
    /** 0: each event is a separate line. Otherwise events are grouped, and an idle agent wakes later by this time. */
    readonly windowMs: number;
    /** The most notifications in one line. */
    readonly maxSize: number;
    /** Paths such as `payload.tool_name`, joined by ":". Events with the same values are counted, not repeated. */
    readonly dedupeKey?: readonly string[];
    /** A repetition within this time after the first is delivered at the end of the window. */
    readonly dedupeWindowMs: number;
  };
  readonly output: {
    readonly priority: Priority;
    readonly injectAt: InjectAt;
    /** Undefined if its file is missing: then the generic view renders the line. */
    readonly template?: Template;
    /** A core subscriber cannot be disabled. */
    readonly core: boolean;
    /** `source.name` instead of the event's type. */
    readonly kind?: string;
    /** The newest state wins, instead of being counted. */
    readonly supersede: boolean;
  };
  /** Events that end the state. They withdraw open notifications with the same dedupe key. */
  readonly withdraw?: { readonly types: readonly string[] };
  /**
   * A minijinja expression over `event`, `payload`, `type`, `source`, `severity`. The subscriber gets only events for which
   * it is true.
   */
  readonly condition?: { readonly expression: string };
  /** The file, and the folder that it was found in. A later folder overrides an earlier one. */
  readonly from: { readonly folder: FolderName; readonly file: string };
};

/** `hash`: SHA-256 of the text, hex. */
export type Template = { readonly name: string; readonly text: string; readonly hash: string };

export const FOLDERS = ['shipped', 'user', 'project', 'program'] as const;
export type FolderName = (typeof FOLDERS)[number];

/** A problem of a file. Lines and columns start at 1. `warning`: the file still loads. */
export type SubscriberProblem = {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
};

/** `held`: a project's subscribers that are not used until the user trusts them. */
export type SubscriberSet = {
  readonly subscribers: readonly Subscriber[];
  readonly held?: readonly Subscriber[];
  readonly problems: readonly SubscriberProblem[];
};

/** The current subscribers of a project: the same object as long as nothing changed. Must not throw. */
export interface SubscriberSource {
  of(project: string): SubscriberSet;
}
