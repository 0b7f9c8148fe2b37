import type { Level } from './notification.ts';
import type { ViewName } from './records.ts';

/**
 * By what a conversation's project decides. Made by the config room from `earpiece.toml`, or given by a program.
 * Durations are milliseconds.
 */
export type Policy = {
  /** `conversation.notifications.enable`: false closes everything but core criticals as filtered. */
  readonly enable: boolean;
  readonly minLevel: Level;
  /** `kinds.<source>`: `enable` for the whole source, one boolean per name. Names may hold a key called `enable` only in `flat`. */
  readonly kinds: Readonly<Record<string, { readonly enable?: boolean; readonly names: Readonly<Record<string, boolean>> }>>;
  /** `"source.name" = false`; wins over `kinds`. */
  readonly flat: Readonly<Record<string, boolean>>;
  /** `conversation.tools.<tool>.notifications.<name>` and its `spawn.notifications.on_*` form. */
  readonly tools: Readonly<Record<string, Readonly<Record<string, boolean>>>>;
  /** Kinds ("source.name" or "source.*") whose criticals nobody may filter. */
  readonly core: readonly string[];
  readonly maxItems: number;
  readonly maxTokens: number;
  /** Same source and name within this window become one line; 0: only same key. Per source, `*` for the rest. */
  readonly coalesceMs: Readonly<Record<string, number>>;
  readonly maxDeferMs: number;
  readonly ttlMs: Readonly<Record<Level, number | null>>;
  /** Open items a conversation, after folding. */
  readonly maxOpen: number;
  readonly view: ViewName;
  /** What happens to upstream calls while the gate is up: refused, or made and their result withheld. */
  readonly interrupt: 'before' | 'after';
  readonly wake: Readonly<Record<Level, 'never' | 'ask' | 'auto'>>;
  /** Between these minutes of the person's day only a person and an interrupt wake. It may run over midnight. */
  readonly wakeQuiet?: QuietHours;
  /** So often in an hour; a person's words are not counted. */
  readonly wakeMaxPerHour: number;
  /** The highest level that a source may claim, else it is lowered to it. `*` for the rest. */
  readonly maxLevel: Readonly<Record<string, Level>>;
  /** A longer item text is cut, and says so. */
  readonly maxItemChars: number;
  readonly withheld: { readonly maxBytes: number; readonly keepMs: number };
  /** What is replaced by `[redacted]` in stored results and bodies. Regular expression sources. */
  readonly redact: readonly string[];
  readonly retentionMs: number;
  /** Of tasks that are over. */
  readonly taskRetentionMs: number;
  /** How long a lease lasts when nobody confirms or releases it. */
  readonly leaseMs: number;
};

/** Minutes since midnight; `from` is inside, `to` is not. */
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
