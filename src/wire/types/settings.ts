/** Made of `../schemas/settings.ts` by `node scripts/wire.ts --update`. */
import type { Json } from '../../core/json.ts';
import type { Level } from '../../core/notification.ts';
import type { Verdict } from '../../core/verdict/kinds.ts';

export type SettingChange = {
  readonly label: string;
  /** The effect of the setting, in one line. */
  readonly help: string;
  readonly form:
    | { readonly kind: 'switch' }
    | { readonly kind: 'number'; readonly min: number; readonly max: number }
    | { readonly kind: 'choice'; readonly words: readonly string[] }
    /** A text such as `30m`; if the field `never` is true, also the text `never`. */
    | { readonly kind: 'duration'; readonly never: boolean }
    | { readonly kind: 'list' };
  /** Whether the values of all files are joined into one list. */
  readonly addsUp: boolean;
  /** When a change takes effect: `now, from the next carrier on`. */
  readonly takesEffect: string;
  /** For each file: whether the file sets the key, the value in the file, and the source with higher priority, if any. */
  readonly in: {
    readonly user: { readonly decidedBy: string | null; readonly set: boolean; readonly says: Json };
    readonly project: { readonly decidedBy: string | null; readonly set: boolean; readonly says: Json };
  };
};

export type SettingReply = {
  readonly key: string;
  readonly value: Json;
  readonly text: string;
  readonly decidedBy: string;
  readonly expects: string;
  readonly env: string | null;
  readonly overridden: readonly { readonly text: string; readonly decidedBy: string }[];
  /** The form for changing the setting; null if only its file or the command line can change the setting. */
  readonly change: SettingChange | null;
};

export type SettingsReply = {
  readonly project: string;
  readonly files: readonly { readonly scope: string; readonly file: string }[];
  /** The file of each scope, even a file that does not exist yet; null if this server cannot change settings. */
  readonly places: {
    readonly user: { readonly file: string; readonly exists: boolean };
    readonly project: { readonly file: string; readonly exists: boolean };
  } | null;
  /** The problems of the files; if there are problems, running processes keep the earlier configuration. */
  readonly problems: readonly string[];
  readonly settings: readonly SettingReply[];
};

/** A subscriber in a list. */
export type SubscriberItem = {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly event_types: readonly string[];
  readonly priority: string;
  readonly inject_at: string;
  readonly core: boolean;
  /** The reason why a core subscriber cannot be disabled; null for any other subscriber. */
  readonly locked: string | null;
  readonly enabled: boolean;
  /** The kind of folder, such as `shipped`, and the file. */
  readonly from: { readonly folder: string; readonly file: string };
  readonly spoke_last_7_days: number;
};

export type SubscribersReply = {
  readonly project: string;
  readonly subscribers: readonly SubscriberItem[];
  /** Files that were not loaded, or were loaded with a warning. */
  readonly problems: readonly { readonly file: string; readonly severity: string; readonly message: string }[];
};

/** The text for a sample event. If the request names an agent, also the test notification for that agent. */
export type SubscriberTestReply = {
  readonly subscriber_id: string;
  readonly event_type: string;
  readonly inject_at: string;
  /** Whether the subscriber is on; a subscriber that is off queues nothing. */
  readonly enabled: boolean;
  readonly kind: string;
  /** The level of a real notification; a test notification always has the level info. */
  readonly level: Level;
  /** The text of a real notification. */
  readonly preview: string;
  /** The reason why the template failed; null if the template did not fail. */
  readonly problem: string | null;
  /** The agent to which `real` applies. */
  readonly about: string | null;
  /** The verdict on a real notification for that agent if it were queued now; null if no agent was named. */
  readonly real: Verdict | null;
  /** The agent that got the test notification; null if nothing was sent. */
  readonly to: string | null;
  readonly notification: string | null;
  /** The result in words: nothing was sent, or the verdict on the sent notification. */
  readonly message: string;
  /** The verdict on the sent notification, as the `why` route gives it; null if nothing was sent. */
  readonly verdict: Verdict | null;
};

/** A kind that a person silenced for an agent: `*`, `source`, `source.*` or `source.name`. */
export type MuteView = {
  readonly log: string;
  readonly pattern: string;
  /** Epoch milliseconds; null: until a person lifts the mute. */
  readonly until: number | null;
  readonly by: string;
};

export type MutesReply = {
  readonly items: readonly MuteView[];
  /** Whether there are more agents than this answer covers. */
  readonly more: boolean;
};
