/**
 * An event, such as a failed tool call or a changed file, in the shape of CloudEvents. A source emits events, and the bus turns
 * them into notifications. Notifications are durable, and events are not.
 */
import { isBlank } from './blank.ts';
import { formatAddress, parseAddress } from './address.ts';
import { checksum } from './checksum.ts';
import { defined } from './defined.ts';
import { EarpieceError } from './errors.ts';
import { isTooDeep, type Json, jsonSize, shownJson, tooDeep } from './json.ts';
import { LEVELS, LIMITS, type Deliver, type Level, type NotificationInput, type Origin } from './notification.ts';

export const SEVERITIES = ['debug', ...LEVELS] as const;
export type Severity = (typeof SEVERITIES)[number];
export const severityRank = (severity: Severity): number => SEVERITIES.indexOf(severity);

/**
 * - `id`: unique within its source. A second event with the same source and id is ignored.
 * - `type`: dotted, `tool.call.failure`. `source`: the observer, such as `agent`, `files` or `github`.
 * - `subject`: the address of the agents that the event concerns. `time`: epoch ms.
 * - `message`: what happened, in a few words. The agent reads this text if the subscriber has no template. Default: made from the
 *   type and the data.
 * - `key`: replaces the subscriber's dedupe key. `about`, `supersede`, `deliver`, `ttlMs`: see `Notification`.
 */
export type Event = {
  readonly id: string;
  readonly type: string;
  readonly source: string;
  readonly subject: string;
  readonly time: number;
  readonly severity: Severity;
  readonly data: Readonly<Record<string, Json>>;
  readonly message?: string;
  readonly key?: string;
  readonly about?: string;
  readonly supersede?: boolean;
  readonly deliver?: Deliver;
  readonly ttlMs?: number;
  readonly purpose?: string;
  readonly origin?: Partial<Origin>;
};

/** The fields that a source passes. The source may omit id, time, severity (default `info`) and data. */
export type EventInput = Pick<Event, 'type' | 'source' | 'subject'> & Partial<Event>;

/** How one subscriber handled an event. */
export type Handled =
  | { readonly subscriber: string; readonly kind: 'queued' | 'folded' | 'duplicate'; readonly id: string }
  /** The event withdrew these open notifications. */
  | { readonly subscriber: string; readonly kind: 'withdrew'; readonly ids: readonly string[] }
  | { readonly subscriber: string; readonly kind: 'skipped'; readonly because: string };

export type Emitted = { readonly event: Event; readonly heard: readonly Handled[] };

/**
 * Accepts events from sources. `emit` resolves when all results of the event are durable. `emit` rejects with `bad_event` or
 * `bad_address` for an invalid event. If a notification cannot be queued, `emit` rejects with the inbox's error, such as
 * `nobody_there` or an error of the store. A source that does not await an emit must count and report a failed emit, and
 * continue.
 */
export interface Emitter {
  emit(event: EventInput): Promise<Emitted>;
}

export const EVENT_LIMITS = { typeChars: 128, textChars: LIMITS.idChars, dataBytes: 65_536 } as const;

const TYPE = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;

/**
 * Checks and completes an event. Throws `bad_address` for an invalid subject, and `bad_event` for other invalid fields.
 * `makeNotification` checks the fields of `handedOn`.
 */
export function makeEvent(input: EventInput, made: { readonly id: string; readonly now: number }): Event {
  const refuse = (field: string, value: unknown, allowed: string): never => {
    const seen = shownJson(value);
    throw new EarpieceError('bad_event', `event ${field} ${seen.length > 80 ? `${seen.slice(0, 80)}…` : seen}: ${allowed}`, {
      data: { field },
    });
  };
  const text = (field: 'id' | 'source', value: unknown): string =>
    typeof value === 'string' && value.trim() !== '' && value.length <= EVENT_LIMITS.textChars
      ? value.toWellFormed()
      : refuse(field, value, `must be a text of 1 to ${EVENT_LIMITS.textChars} characters`);
  const { type, severity = 'info', data = {} } = input;
  if (typeof type !== 'string' || type.length > EVENT_LIMITS.typeChars || !TYPE.test(type))
    refuse('type', type, 'must be dotted words of letters, digits, "_" and "-", e.g. "build.failed"');
  if (!SEVERITIES.includes(severity)) refuse('severity', severity, `must be one of ${SEVERITIES.join(', ')}`);
  if (isTooDeep(data)) throw new EarpieceError('bad_event', tooDeep('event data'), { data: { field: 'data' } });
  if (typeof data !== 'object' || data === null || Array.isArray(data)) refuse('data', data, 'must be a JSON object');
  const size = jsonSize(data);
  if (typeof size === 'string') refuse('data', typeof data, `must be JSON: ${size}`);
  else if (size > EVENT_LIMITS.dataBytes)
    throw new EarpieceError(
      'bad_event',
      `event data has ${size} characters of JSON, at most ${EVENT_LIMITS.dataBytes} are allowed; write the data to a file and send the path`,
      { data: { field: 'data' } },
    );
  const time = input.time ?? made.now;
  if (!Number.isFinite(time) || Math.abs(time) > 8.64e15) refuse('time', time, 'must be epoch milliseconds');
  const { message } = input;
  if (message !== undefined && (typeof message !== 'string' || message.length > LIMITS.messageChars))
    refuse('message', typeof message, `must be a text of at most ${LIMITS.messageChars} characters`);
  return {
    id: text('id', input.id ?? made.id),
    type,
    source: text('source', input.source),
    subject: formatAddress(parseAddress(input.subject)),
    time,
    severity,
    data,
    ...(message === undefined || isBlank(message) ? {} : { message: message.toWellFormed() }),
    ...handedOn(input),
  };
}

/** Returns the optional fields that an event passes on to its notification unchanged. */
const handedOn = ({
  key,
  about,
  supersede,
  deliver,
  ttlMs,
  purpose,
  origin,
}: Partial<Event>): Pick<Event, 'key' | 'about' | 'supersede' | 'deliver' | 'ttlMs' | 'purpose' | 'origin'> => ({
  ...defined({ key, about, supersede, deliver, ttlMs, purpose, origin }),
});

export const levelOf = (severity: Severity): Level => (severity === 'debug' ? 'info' : severity);

/**
 * Fields of an event's `data` that differ from event to event. Two events that differ only in these fields count as the same
 * detail.
 */
export const VOLATILE: ReadonlySet<string> = new Set(['call_id', 'duration_ms', 'retry_count', 'failures', 'timestamp']);

/** Returns the message of an event. An event without a message gets one from its type and data. */
export function messageOf(event: Pick<Event, 'type' | 'message' | 'data'>): string {
  if (event.message !== undefined) return event.message;
  const news = Object.entries(event.data).filter(([name]) => !VOLATILE.has(name));
  const shown = news
    .flatMap(([name, value]) => (typeof value === 'object' ? [] : [`${name}: ${short(String(value))}`]))
    .slice(0, 5);
  const rest = news.length - shown.length;
  return `${event.type}${shown.length > 0 ? ` (${shown.join(', ')}${rest > 0 ? `, ${rest} more` : ''})` : ''}`;
}

/**
 * Returns the id under which an event is queued. The same event gets the same id in each process that emits it. Only ids with a
 * subscriber contain "~", because the inbox refuses such an id from any other caller.
 */
export function notificationIdOf(event: Pick<Event, 'id' | 'source'>, subscriber?: string): string {
  const part = (text: string): string => encodeURIComponent(text).replaceAll('%20', '+').replaceAll('~', '%7E');
  const id = `${part(event.source)}/${part(event.id)}${subscriber === undefined ? '' : `~${subscriber}`}`;
  return id.length <= LIMITS.idChars
    ? id
    : `${id.slice(0, LIMITS.idChars - 18)}${subscriber === undefined ? '.' : '~'}${checksum(id)}`;
}

/** Makes a notification from an event without a subscriber, for a program that has no bus. */
export function notificationFrom(event: Event): NotificationInput {
  return {
    id: notificationIdOf(event),
    kind: kindOf(event.type),
    level: levelOf(event.severity),
    message: messageOf(event),
    ...(Object.keys(event.data).length === 0 ? {} : { data: event.data }),
    ...handedOn(event),
  };
}

/** Returns the notification's kind for an event type. A type of one word becomes a name of the source "event". */
export const kindOf = (type: string): string => {
  const kind = type.includes('.') ? type : `event.${type}`;
  return kind
    .split('.')
    .map((part) => part.slice(0, LIMITS.nameChars))
    .join('.');
};

const short = (text: string): string => (text.length > 120 ? `${text.slice(0, 119).toWellFormed()}…` : text);
