/** Settings and subscribers. */
import { z } from '@hono/zod-openapi';
import type * as api from '../api.ts';
import { json, level, logParam, nullable, text, time } from './base.ts';
import { verdict } from './notifications.ts';

const settingIn = z.object({ decidedBy: nullable(z.string()), set: z.boolean(), says: json });
const settingPlace = z.object({ file: z.string(), exists: z.boolean() });
const settingForm = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('switch') }),
  z.object({ kind: z.literal('number'), min: z.number(), max: z.number() }),
  z.object({ kind: z.literal('choice'), words: z.array(z.string()) }),
  z.object({ kind: z.literal('duration'), never: z.boolean() }),
  z.object({ kind: z.literal('list') }),
]);

export const settings = z
  .object({
    project: z.string(),
    files: z.array(z.object({ scope: z.string(), file: z.string() })),
    places: nullable(z.object({ user: settingPlace, project: settingPlace })),
    problems: z.array(z.string()),
    settings: z.array(
      z.object({
        key: z.string(),
        value: json,
        text: z.string(),
        decidedBy: z.string(),
        expects: z.string(),
        env: nullable(z.string()),
        overridden: z.array(z.object({ text: z.string(), decidedBy: z.string() })),
        change: nullable(
          z.object({
            label: z.string(),
            help: z.string(),
            form: settingForm,
            addsUp: z.boolean(),
            takesEffect: z.string(),
            in: z.object({ user: settingIn, project: settingIn }),
          }),
        ),
      }),
    ),
  })
  .openapi('Settings') satisfies z.ZodType<api.SettingsReply>;

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
    locked: nullable(z.string()),
    enabled: z.boolean(),
    from: z.object({ folder: z.string(), file: z.string() }),
    spoke_last_7_days: z.number().int(),
  })
  .openapi('Subscriber') satisfies z.ZodType<api.SubscriberItem>;
export const subscribers = z
  .object({
    project: z.string(),
    subscribers: z.array(subscriber),
    problems: z.array(z.object({ file: z.string(), severity: z.string(), message: z.string() })),
  })
  .openapi('Subscribers') satisfies z.ZodType<api.SubscribersReply>;
export const disabledSubscribers = z
  .strictObject({ disabled_subscribers: z.array(text(200)).max(1_000) })
  .openapi('DisabledSubscribers');
export const subscriberTest = z
  .object({
    subscriber_id: z.string(),
    event_type: z.string(),
    inject_at: z.string(),
    kind: z.string(),
    level,
    preview: z.string().openapi({ description: 'what would be sent of a real one' }),
    problem: nullable(z.string()),
    to: nullable(z.string()),
    notification: nullable(z.string()),
    message: z.string(),
    verdict: nullable(verdict),
  })
  .openapi('SubscriberTest');

export const mutes = z
  .object({
    items: z.array(
      z
        .object({ log: z.string(), pattern: z.string(), until: nullable(time), by: z.string() })
        .openapi('Mute') satisfies z.ZodType<api.MuteView>,
    ),
    more: z.boolean(),
  })
  .openapi('Mutes') satisfies z.ZodType<api.MutesReply>;
export const muteInput = z
  .strictObject({
    to: logParam,
    pattern: text(200).openapi({ description: '*, source, source.* or source.name' }),
    until: time.nullable().default(null).openapi({ description: 'epoch milliseconds; null: until somebody lifts it' }),
  })
  .openapi('MuteInput');
