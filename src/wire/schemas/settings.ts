/** The schemas of settings and subscribers. */
import { z } from 'zod';
import { json, level, logParam, nullable, text, time } from './base.ts';
import { verdict } from './notifications.ts';

const settingIn = z.object({ decidedBy: nullable(z.string()), set: z.boolean(), says: json });
const settingPlace = z.object({ file: z.string(), exists: z.boolean() });
const settingForm = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('switch') }),
  z.object({ kind: z.literal('number'), min: z.number(), max: z.number() }),
  z.object({ kind: z.literal('choice'), words: z.array(z.string()) }),
  z
    .object({ kind: z.literal('duration'), never: z.boolean() })
    .describe('a text such as `30m`; if the field `never` is true, also the text `never`'),
  z.object({ kind: z.literal('list') }),
]);
export const settingChange = z.object({
  label: z.string(),
  help: z.string().describe('the effect of the setting, in one line'),
  form: settingForm,
  addsUp: z.boolean().describe('whether the values of all files are joined into one list'),
  takesEffect: z.string().describe('when a change takes effect: `now, from the next carrier on`'),
  in: z
    .object({ user: settingIn, project: settingIn })
    .describe('for each file: whether the file sets the key, the value in the file, and the source with higher priority, if any'),
});

export const setting = z.object({
  key: z.string(),
  value: json,
  text: z.string(),
  decidedBy: z.string(),
  expects: z.string(),
  env: nullable(z.string()),
  overridden: z.array(z.object({ text: z.string(), decidedBy: z.string() })),
  change: nullable(settingChange).describe(
    'the form for changing the setting; null if only its file or the command line can change the setting',
  ),
});

export const settings = z
  .object({
    project: z.string(),
    files: z.array(z.object({ scope: z.string(), file: z.string() })),
    places: nullable(z.object({ user: settingPlace, project: settingPlace })).describe(
      'the file of each scope, even a file that does not exist yet; null if this server cannot change settings',
    ),
    problems: z
      .array(z.string())
      .describe('the problems of the files; if there are problems, running processes keep the earlier configuration'),
    settings: z.array(setting),
  })
  .openapi('Settings');

export const settingsInput = z
  .strictObject({
    scope: z.enum(['user', 'project']).default('user').describe("the file: the user's, for all projects, or the project's"),
    settings: z
      .record(
        z.string().max(400),
        z.union([z.boolean(), z.number(), z.string().max(4_000), z.array(z.string().max(1_000)).max(200), z.null()]),
      )
      .refine((given) => Object.keys(given).length <= 100, 'at most 100 settings are allowed in one request')
      .openapi({
        description: 'by key, as in the file; null removes the key, so that the source with the next lower priority decides',
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
    locked: nullable(z.string()).describe('the reason why a core subscriber cannot be disabled; null for any other subscriber'),
    enabled: z.boolean(),
    from: z.object({ folder: z.string(), file: z.string() }).describe('the kind of folder, such as `shipped`, and the file'),
    spoke_last_7_days: z.number().int(),
  })
  .openapi('Subscriber');
export const subscribers = z
  .object({
    project: z.string(),
    subscribers: z.array(subscriber),
    problems: z
      .array(z.object({ file: z.string(), severity: z.string(), message: z.string() }))
      .describe('files that were not loaded, or were loaded with a warning'),
  })
  .openapi('Subscribers');
export const disabledSubscribers = z
  .strictObject({ disabled_subscribers: z.array(text(200)).max(1_000) })
  .openapi('DisabledSubscribers');
export const subscriberTest = z
  .object({
    subscriber_id: z.string(),
    event_type: z.string(),
    inject_at: z.string(),
    enabled: z.boolean().describe('whether the subscriber is on; a subscriber that is off queues nothing'),
    kind: z.string(),
    level: level.describe('the level of a real notification; a test notification always has the level info'),
    preview: z.string().describe('the text of a real notification'),
    problem: nullable(z.string()).describe('the reason why the template failed; null if the template did not fail'),
    about: nullable(z.string()).describe('the agent to which `real` applies'),
    real: nullable(verdict).describe(
      'the verdict on a real notification for that agent if it were queued now; null if no agent was named',
    ),
    to: nullable(z.string()).describe('the agent that got the test notification; null if nothing was sent'),
    notification: nullable(z.string()),
    message: z.string().describe('the result in words: nothing was sent, or the verdict on the sent notification'),
    verdict: nullable(verdict).describe(
      'the verdict on the sent notification, as the `why` route gives it; null if nothing was sent',
    ),
  })
  .openapi('SubscriberTest');

export const muted = z
  .object({
    log: z.string(),
    pattern: z.string(),
    until: nullable(time).describe('epoch milliseconds; null: until a person lifts the mute'),
    by: z.string(),
  })
  .openapi('Mute');
export const mutes = z
  .object({
    items: z.array(muted),
    more: z.boolean().describe('whether there are more agents than this answer covers'),
  })
  .openapi('Mutes');
export const muteInput = z
  .strictObject({
    to: logParam,
    pattern: text(200).describe('*, source, source.* or source.name'),
    until: time.nullable().default(null).describe('epoch milliseconds; null: until a person lifts the mute'),
  })
  .openapi('MuteInput');
