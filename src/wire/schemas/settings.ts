/** Settings and subscribers. */
import { z } from 'zod';
import { json, level, logParam, nullable, text, time, type Wire } from './base.ts';
import { verdict } from './notifications.ts';

const settingIn = z.object({ decidedBy: nullable(z.string()), set: z.boolean(), says: json });
const settingPlace = z.object({ file: z.string(), exists: z.boolean() });
const settingForm = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('switch') }),
  z.object({ kind: z.literal('number'), min: z.number(), max: z.number() }),
  z.object({ kind: z.literal('choice'), words: z.array(z.string()) }),
  /** A text such as `30m`. `never`: also accepts that word. */
  z.object({ kind: z.literal('duration'), never: z.boolean() }),
  z.object({ kind: z.literal('list') }),
]);
const settingChange = z.object({
  label: z.string(),
  /** Its effect, in one line. */
  help: z.string(),
  form: settingForm,
  /** A list that joins the values of all files. */
  addsUp: z.boolean(),
  /** When a change takes effect: `now, from the next carrier on`. */
  takesEffect: z.string(),
  /**
   * For each file that may hold it: the stronger source that still decides, if there is one; whether the file sets it, and
   * its value there.
   */
  in: z.object({ user: settingIn, project: settingIn }),
});
export type SettingChange = Wire<typeof settingChange>;
/** The file: the user's, for all projects, or the project's. */
export type SettingScope = keyof SettingChange['in'];

const setting = z.object({
  key: z.string(),
  value: json,
  text: z.string(),
  decidedBy: z.string(),
  expects: z.string(),
  env: nullable(z.string()),
  overridden: z.array(z.object({ text: z.string(), decidedBy: z.string() })),
  /** The form for changing it. Null if it is changed only in its file. */
  change: nullable(settingChange),
});
export type SettingReply = Wire<typeof setting>;

export const settings = z
  .object({
    project: z.string(),
    files: z.array(z.object({ scope: z.string(), file: z.string() })),
    /** The file of each scope, even if it does not exist yet. Null if nothing can be changed from here. */
    places: nullable(z.object({ user: settingPlace, project: settingPlace })),
    /** The problems of the files. As long as there are any, running processes keep the earlier configuration. */
    problems: z.array(z.string()),
    settings: z.array(setting),
  })
  .openapi('Settings');
export type SettingsReply = Wire<typeof settings>;

export const settingsInput = z
  .strictObject({
    scope: z
      .enum(['user', 'project'])
      .default('user')
      .openapi({ description: "whose file: the user's, for all projects, or the project's" }),
    settings: z
      .record(
        z.string().max(400),
        z.union([z.boolean(), z.number(), z.string().max(4_000), z.array(z.string().max(1_000)).max(200), z.null()]),
      )
      .refine((given) => Object.keys(given).length <= 100, 'at most 100 at once')
      .openapi({
        description: 'by key, as in the file; null takes it out, and the next weaker one counts',
        example: { 'budget.max_items': 5, min_level: null },
      }),
  })
  .openapi('SettingsInput');

export const subscriber = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    version: z.string(),
    event_types: z.array(z.string()),
    priority: z.string(),
    inject_at: z.string(),
    core: z.boolean(),
    /** Why a core one cannot be disabled. */
    locked: nullable(z.string()),
    enabled: z.boolean(),
    /** The folder of its file, and the file. */
    from: z.object({ folder: z.string(), file: z.string() }),
    spoke_last_7_days: z.number().int(),
  })
  .openapi('Subscriber');
/** The names of the fifth seed's routes. */
export type SubscriberItem = Wire<typeof subscriber>;
export const subscribers = z
  .object({
    project: z.string(),
    subscribers: z.array(subscriber),
    /** Files that did not load, or loaded with a warning. */
    problems: z.array(z.object({ file: z.string(), severity: z.string(), message: z.string() })),
  })
  .openapi('Subscribers');
export type SubscribersReply = Wire<typeof subscribers>;
export const disabledSubscribers = z
  .strictObject({ disabled_subscribers: z.array(text(200)).max(1_000) })
  .openapi('DisabledSubscribers');
export const subscriberTest = z
  .object({
    subscriber_id: z.string(),
    event_type: z.string(),
    inject_at: z.string(),
    kind: z.string(),
    /** The level of a real notification. A test notification is info. */
    level,
    /** The text of a real notification. */
    preview: z.string().openapi({ description: 'what would be sent of a real one' }),
    /** Why its template failed. */
    problem: nullable(z.string()),
    /** Null: nothing was sent. */
    to: nullable(z.string()),
    notification: nullable(z.string()),
    /** The action taken, and when its result shows, or why it does not. */
    message: z.string(),
    /** The verdict of the sent notification, as `why` answers. Null: nothing was sent. */
    verdict: nullable(verdict),
  })
  .openapi('SubscriberTest');
/** The text for a sample event. If the request names an agent: also the test notification that was sent there. */
export type SubscriberTestReply = Wire<typeof subscriberTest>;

const muted = z
  .object({
    log: z.string(),
    pattern: z.string(),
    /** Null: until a person lifts it. */
    until: nullable(time),
    by: z.string(),
  })
  .openapi('Mute');
/** A kind that a person silenced for an agent: `*`, `source`, `source.*` or `source.name`. */
export type MuteView = Wire<typeof muted>;
export const mutes = z
  .object({
    items: z.array(muted),
    /** There are more agents than were searched. */
    more: z.boolean(),
  })
  .openapi('Mutes');
export type MutesReply = Wire<typeof mutes>;
export const muteInput = z
  .strictObject({
    to: logParam,
    pattern: text(200).openapi({ description: '*, source, source.* or source.name' }),
    until: time.nullable().default(null).openapi({ description: 'epoch milliseconds; null: until somebody lifts it' }),
  })
  .openapi('MuteInput');
