/** Converts any payload to events by a map in the configuration. */
import { defined } from '../../core/defined.ts';
import type { EventInput } from '../../core/event.ts';
import { EVENT_LIMITS } from '../../core/event.ts';
import type { Json } from '../../core/json.ts';
import { isTable, rfc3339 } from './cloud-event.ts';
import { at, severityOf, textAt, typePart } from './fields.ts';
import { Refused, type WebhookMap } from './receiver.ts';

/** The fields of an event that a map can fill. */
export type Mapped = Pick<EventInput, 'type' | 'data'> &
  Partial<Pick<EventInput, 'id' | 'time' | 'severity' | 'message' | 'subject'>>;

const PLACE = /\{([\w$@-]+(?:\.[\w$@-]+)*)\}/gu;

/**
 * Makes the event of a payload. Throws `Refused` if the map names an `id` that the payload lacks: without the id, Earpiece could
 * not recognize a repetition.
 */
export function mapped(payload: Json, map: WebhookMap, receiver: string): Mapped {
  const id = map.id === undefined ? undefined : filled(map.id, payload);
  if (map.id !== undefined && (id === undefined || id.trim() === ''))
    throw new Refused(
      422,
      'bad_event',
      `the payload has no value for ${map.id}; send the value, or correct the setting webhooks.${receiver}.map.id`,
    );
  const time = map.time === undefined ? undefined : timeOf(filled(map.time, payload));
  const severity = map.severity === undefined ? undefined : severityOf(filled(map.severity, payload));
  const message = map.message === undefined ? undefined : filled(map.message, payload, '?');
  const subject = map.subject === undefined ? undefined : filled(map.subject, payload);
  return {
    type: typeOf(payload, map.type, receiver),
    data: dataOf(payload, map.data),
    ...defined({ id, time, severity, message, subject }),
  };
}

/** Fills the payload's values into a text. Returns undefined if a value is missing and has no replacement. */
function filled(text: string, payload: Json, missing?: string): string | undefined {
  let whole = true;
  const made = text.replaceAll(PLACE, (_all, path: string) => {
    const value = textAt(payload, path, 500) ?? missing;
    if (value === undefined) whole = false;
    return value ?? '';
  });
  return whole ? made : undefined;
}

/**
 * Returns the type of the event. The configuration may set any prefix. If the sender chooses the type, its prefix is `webhook.`
 * and the receiver's name. Without a type, this prefix is the type.
 */
function typeOf(payload: Json, template: string | undefined, receiver: string): string {
  const own = `webhook.${typePart(receiver)}`;
  const type = typePart((template === undefined ? undefined : filled(template, payload)) ?? '');
  if (type === '') return own;
  return template?.startsWith('{') ? `${own}.${type}` : type;
}

/** Returns the data of the event: the whole payload or a part of it. A note replaces data that are too large. */
function dataOf(payload: Json, template: string | undefined): NonNullable<EventInput['data']> {
  const path = template?.replace(/^\{(.*)\}$/u, '$1');
  const part = path === undefined ? payload : at(payload, path);
  if (part === undefined || part === null) return {};
  const data = isTable(part) ? part : { value: part };
  const chars = JSON.stringify(data).length;
  return chars <= EVENT_LIMITS.dataBytes ? data : { left_out: `${chars} characters, more than an event may hold` };
}

/** Reads a time in RFC 3339, or as seconds or milliseconds since 1970. */
function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{9,14}(?:\.\d+)?$/u.test(text) ? Number(text) : undefined;
  if (number !== undefined) return number < 100_000_000_000 ? Math.round(number * 1_000) : number;
  return rfc3339(text);
}
