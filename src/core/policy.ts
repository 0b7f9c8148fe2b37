import type { Level } from './notification.ts';
import type { ViewName } from './records.ts';

/**
 * The settings of a conversation's project. `src/config` makes these settings from `earpiece.toml`, or a program passes them.
 * Durations are milliseconds.
 */
export type Policy = {
  /**
   * `conversation.notifications.enable`: false closes every notification as filtered, except notifications that `isKept`
   * protects.
   */
  readonly enable: boolean;
  readonly minLevel: Level;
  /**
   * `kinds.<source>`: `enable` for the whole source, and one boolean for each name. A name that is itself `enable` works only in
   * `flat`.
   */
  readonly kinds: Readonly<Record<string, { readonly enable?: boolean; readonly names: Readonly<Record<string, boolean>> }>>;
  /** One boolean for each `source.name`. Overrides `kinds`. */
  readonly flat: Readonly<Record<string, boolean>>;
  /** `conversation.tools.<tool>.notifications.<name>` and its `spawn.notifications.on_*` form. */
  readonly tools: Readonly<Record<string, Readonly<Record<string, boolean>>>>;
  /** Kinds ("source.name" or "source.*") whose critical notifications cannot be filtered. */
  readonly core: readonly string[];
  readonly maxItems: number;
  readonly maxTokens: number;
  /**
   * Below critical, notifications of one kind and level without a key become one line if each is queued within this time after
   * the previous one. Warnings of one source may have different kinds. With 0, only notifications of one key or one subscriber
   * become one line. The setting has one value for each source. `*` is the default for all other sources.
   */
  readonly coalesceMs: Readonly<Record<string, number>>;
  readonly maxDeferMs: number;
  readonly ttlMs: Readonly<Record<Level, number | null>>;
  /** The maximum number of open items in an agent's log. Above this number, the oldest items of the lowest level are dropped. */
  readonly maxOpen: number;
  readonly view: ViewName;
  /** While the gate is up, a call of an upstream tool is refused (`before`), or it is made and its result withheld (`after`). */
  readonly interrupt: 'before' | 'after';
  readonly wake: Readonly<Record<Level, 'never' | 'ask' | 'auto'>>;
  /**
   * During these hours, in the person's time zone, only messages of a person, resumes and interrupts wake an agent. The hours may
   * cross midnight.
   */
  readonly wakeQuiet?: QuietHours;
  /** The maximum number of wakes in an hour. A person's message and a resume wake the agent even beyond this number. */
  readonly wakeMaxPerHour: number;
  /** The highest level for each source. `*` is the default for all other sources. A higher level is lowered to this level. */
  readonly maxLevel: Readonly<Record<string, Level>>;
  /** The maximum number of characters in an item's text. A longer text is cut, and the item says so. */
  readonly maxItemChars: number;
  readonly withheld: { readonly maxBytes: number; readonly keepMs: number };
  /**
   * Regular expressions, as text. `[redacted]` replaces each match before Earpiece stores a withheld result or a notification's
   * message, instruction, data and `needs.otherwise`.
   */
  readonly redact: readonly string[];
  readonly retentionMs: number;
  /** How long finished tasks stay in the log, in ms. */
  readonly taskRetentionMs: number;
  /** How long a lease lasts if it is neither confirmed nor released, in ms. */
  readonly leaseMs: number;
};

/** Minutes since midnight: `from` is inclusive, `to` is exclusive. */
export type QuietHours = { readonly from: number; readonly to: number };

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

export const DEFAULT_POLICY: Policy = {
  enable: true,
  minLevel: 'info',
  kinds: {},
  flat: {},
  tools: {},
  core: ['earpiece.*', 'user.*', 'budget.exceeded', 'task.*'],
  maxItems: 10,
  maxTokens: 800,
  coalesceMs: { '*': 2_000 },
  maxDeferMs: 30 * 60_000,
  ttlMs: { info: DAY, warning: 3 * DAY, error: 7 * DAY, critical: null },
  maxOpen: 1_000,
  view: 'default',
  interrupt: 'before',
  wake: { info: 'never', warning: 'never', error: 'ask', critical: 'auto' },
  wakeMaxPerHour: 30,
  maxLevel: {},
  maxItemChars: 2_000,
  withheld: { maxBytes: 1_048_576, keepMs: DAY },
  redact: [],
  retentionMs: 30 * DAY,
  taskRetentionMs: 30 * DAY,
  leaseMs: 30_000,
};
