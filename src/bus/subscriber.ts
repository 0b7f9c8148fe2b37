/**
 * The types of a subscriber, as its checked file defines them. The package's folder `subscribers/` contains the shipped
 * subscribers. `folders.ts` finds subscribers.
 */
import type { Severity } from '../core/event.ts';

/**
 * The priority decides the default moment of delivery. `critical` interrupts. `high` and `normal` are delivered at the next
 * cycle. `low` waits for the end of the agent's cycle.
 */
export const PRIORITIES = ['critical', 'high', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

/**
 * The values of `inject_at`. Three values are words of an earlier design: `immediate` means now, `turn_start` means the next
 * cycle, and `turn_end` means the end of a cycle.
 */
export const INJECTION_POINTS = ['immediate', 'turn_start', 'after_tool', 'turn_end'] as const;
export type InjectAt = (typeof INJECTION_POINTS)[number];

export type Subscriber = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly events: {
    /** Exact types, or `prefix.*` for all types that begin with `prefix.`. */
    readonly types: readonly string[];
    /** Events below this severity are ignored. */
    readonly severityFilter: Severity;
    /** Only events of these sources match. Undefined means any source. */
    readonly sources?: readonly string[];
  };
  readonly batching: {
    /** The delay before an event wakes an idle agent, so that events can be grouped. With 0, each event is a separate line. */
    readonly windowMs: number;
    /** The maximum number of notifications in one line. */
    readonly maxSize: number;
    /** The paths of the key, such as `payload.tool_name`. Events with the same values are counted instead of repeated. */
    readonly dedupeKey?: readonly string[];
    /** A repetition within this time (ms) after the first event is delivered when the time ends. */
    readonly dedupeWindowMs: number;
  };
  readonly output: {
    readonly priority: Priority;
    readonly injectAt: InjectAt;
    /**
     * The template of the lines. Undefined if the subscriber has no template, or if the template's file is missing. The generic
     * view then renders the line.
     */
    readonly template?: Template;
    /** Whether the subscriber is a core subscriber, which cannot be disabled. */
    readonly core: boolean;
    /** The kind `source.name` of the notification. Default: the event's type. */
    readonly kind?: string;
    /** Whether the newest state replaces older states. If false, the states are counted together. */
    readonly supersede: boolean;
  };
  /** Events that end the state. Such events withdraw open notifications with the same dedupe key. */
  readonly withdraw?: { readonly types: readonly string[] };
  /**
   * A minijinja expression over `event`, `payload`, `type`, `source`, `severity`. The subscriber gets only events for which the
   * expression is true.
   */
  readonly condition?: { readonly expression: string };
  /** The file, and the folder in which it was found. A later folder overrides an earlier folder. */
  readonly from: { readonly folder: FolderName; readonly file: string };
};

/** `hash`: SHA-256 of the text, hex. */
export type Template = { readonly name: string; readonly text: string; readonly hash: string };

export const FOLDERS = ['shipped', 'user', 'project', 'program'] as const;
export type FolderName = (typeof FOLDERS)[number];

/** A problem in a file. Lines and columns start at 1. A file with only warnings still loads. */
export type SubscriberProblem = {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  readonly severity: 'error' | 'warning';
  readonly message: string;
};

/**
 * The subscribers of a project, and their problems. `held`: the project's own subscribers, which are not used until the user
 * trusts the project's folder.
 */
export type SubscriberSet = {
  readonly subscribers: readonly Subscriber[];
  readonly held?: readonly Subscriber[];
  readonly problems: readonly SubscriberProblem[];
};

/** Returns the current subscribers of a project, and the same object if nothing has changed. Must not throw. */
export interface SubscriberSource {
  of(project: string): SubscriberSet;
}
