/** Makes the notifications that a subscriber queues for events. Pure. */
import { defined } from '../core/defined.ts';
import { kindOf, levelOf, messageOf, notificationIdOf, type Event } from '../core/event.ts';
import { shortened } from '../core/checksum.ts';
import { levelRank, LIMITS, type Deliver, type Level, type NotificationInput, type Subscribed } from '../core/notification.ts';
import { isFromOutside } from './matching.ts';
import { dataOf, type Tally } from './storm.ts';
import { INJECTION_POINTS, PRIORITIES, type InjectAt, type Priority, type Subscriber } from './subscriber.ts';

export type Shaped = { readonly input: NotificationInput; readonly subscribed: Subscribed };

/** Maps the words of subscriber files to the moments of the glossary. */
export const MOMENT_OF: Readonly<Record<InjectAt, Exclude<Deliver, object>>> = {
  immediate: 'now',
  turn_start: 'next_cycle',
  after_tool: 'after_tool',
  turn_end: 'cycle_end',
};

/**
 * Makes the notification of one event. `key`: the result of `keyOf`. The payload's `priority` and `inject_at` override the
 * subscriber's values. Invalid values are ignored. Events of agents, and events from outside, never make critical
 * notifications.
 */
export function shape(subscriber: Subscriber, event: Event, key: string | undefined): Shaped {
  const { output, batching } = subscriber;
  const injectAt = oneOf<InjectAt>(INJECTION_POINTS, event.data['inject_at']) ?? output.injectAt;
  const level = levelFor(subscriber, event);
  const { about, supersede = output.supersede, deliver = MOMENT_OF[injectAt], ttlMs, purpose, origin } = event;
  return {
    input: {
      id: notificationIdOf(event, subscriber.id),
      kind: output.kind ?? kindOf(event.type),
      level,
      message: messageOf(event),
      ...(Object.keys(event.data).length === 0 ? {} : { data: event.data }),
      ...(key === undefined ? {} : { key, supersede }),
      ...defined({ about }),
      deliver,
      ...defined({ ttlMs, purpose, origin }),
    },
    subscribed: {
      id: subscriber.id,
      event: { type: event.type, source: event.source, severity: event.severity, time: event.time },
      ...(output.template === undefined ? {} : { template: output.template.hash }),
      group: batching.windowMs === 0 ? 1 : batching.maxSize,
      ...(output.core ? { core: true as const } : {}),
      ...(batching.windowMs > 0 && level !== 'critical' ? { wakeAfterMs: batching.windowMs } : {}),
    },
  };
}

/**
 * Makes the notification of a repetition within the dedupe window: it does not interrupt again, and waits until the window ends.
 * If the event itself waits for a later time, a tool or a number of turns, that moment stays.
 */
export function repeated({ input, subscribed }: Shaped, windowEnd: number): Shaped {
  const { level, deliver } = input;
  const calm = level === 'critical' ? { ...input, level: 'error' as const } : input;
  if (typeof deliver === 'object' && !('at' in deliver && deliver.at < windowEnd)) return { input: calm, subscribed };
  return { input: { ...calm, deliver: { at: windowEnd } }, subscribed: { ...subscribed, repeats: true } };
}

export function levelFor({ output }: Subscriber, event: Event): Level {
  const priority = oneOf<Priority>(PRIORITIES, event.data['priority']) ?? output.priority;
  return capped(priority === 'critical' ? 'critical' : levelOf(event.severity), event);
}

/**
 * Makes the notification about the events of a storm that are only counted. All such notifications of a subscriber have one key.
 */
export function shapeRest(subscriber: Subscriber, event: Event, more: Tally): Shaped {
  const { input, subscribed } = shape(subscriber, event, undefined);
  const { data: _data, about: _about, id = '', ...rest } = input;
  return {
    input: {
      ...rest,
      id: `${shortened(id, ID_CHARS)}~rest`,
      message: `more ${event.type} events, not listed here`,
      key: restKeyOf(subscriber),
      count: more.total,
      data: dataOf(more.counted(), event.id, more.names(subscriber.id)),
    },
    subscribed: { ...subscribed, rest: true },
  };
}

/** The maximum length of an id, in characters, so that a suffix fits. */
const ID_CHARS = LIMITS.idChars - 20;

export const restKeyOf = ({ id }: Subscriber): string => `${id}:~rest`;

function capped(level: Level, event: Event): Level {
  const outside = event.origin?.agent !== undefined || isFromOutside(event);
  return outside && levelRank(level) > levelRank('error') ? 'error' : level;
}

const oneOf = <T extends string>(known: readonly T[], value: unknown): T | undefined => known.find((each) => each === value);
