/**
 * Reads a webhook request, and returns its events or the reason for a refusal. This code reads no clock, opens no file, and
 * never throws for a request. The events of webhooks are separate from those of Earpiece's sources: their source is
 * `webhook/<name>`, and their severity is at most `error`. The keys of these events get a prefix, so that webhooks cannot
 * replace or withdraw other notifications, or add to their counts. A CloudEvent with a type of Earpiece's own sources is
 * refused, except the types `github.…`,
 * `alert.…`, `webhook.…` and `cli.…`.
 */
import { EVENT_TYPES } from '../../bus/event-types.ts';
import { formatAddress, parseAddress } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import { EVENT_LIMITS, makeEvent, type EventInput } from '../../core/event.ts';
import { checksum } from '../../core/checksum.ts';
import { idOfSender } from '../../core/senders.ts';
import type { Json } from '../../core/json.ts';
import { alertEvents } from './alertmanager.ts';
import { checkSize, jsonOf } from './body.ts';
import { asData, eventFromCloudEvent, isJsonType, isTable } from './cloud-event.ts';
import { githubEvent } from './github.ts';
import { mapped } from './mapping.ts';
import { Refused, WEBHOOK_LIMITS, type Payload, type Refusal, type WebhookReceiver } from './receiver.ts';
import { bodyId, checkSignature, type Headers } from './signatures.ts';

export type WebhookRequest = {
  /** The headers, with names in lower case. */
  readonly headers: Headers;
  /** The unchanged bytes of the body, because signatures are computed from bytes. */
  readonly body: Buffer;
  readonly receiver: WebhookReceiver;
  /** The time of the log's clock, which never runs backwards, in milliseconds since the epoch. */
  readonly now: number;
  /**
   * The time of the system clock, for the age of a signature. The log's clock may be ahead, and every signature would then be too
   * old. Default: `now`.
   */
  readonly clock?: number;
  /** Whether this delivery was received before. Default: never. */
  readonly seen?: (delivery: string) => boolean;
};

export type Received =
  /**
   * The events to emit, in this order. A ping has no events. Remember `deliveries` only after all events are durable, because a
   * sender repeats a failed delivery.
   */
  { readonly kind: 'events'; readonly events: readonly EventInput[]; readonly deliveries: readonly string[] } | Refusal;

export function receive(request: WebhookRequest): Received {
  try {
    checkSize(request.body);
    checkSignature({ ...request, now: request.clock ?? request.now });
    const { events, deliveries } = read(request);
    // A sender repeats a delivery if it has not received the answer. The first delivery has arrived, so the answer is success
    // without events.
    if (deliveries.some((id) => request.seen?.(id)))
      throw new Refused(200, 'replayed', 'this delivery was received before; nothing changed');
    return { kind: 'events', events: events.map((event) => checked(event, request)), deliveries };
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    if (error instanceof EarpieceError && (error.code === 'bad_event' || error.code === 'bad_address')) {
      const tooBig = error.data['field'] === 'data' && /characters of JSON/u.test(error.message);
      return { kind: 'refused', status: tooBig ? 413 : 422, code: tooBig ? 'too_big' : 'bad_event', reason: error.message };
    }
    throw error;
  }
}

/** An event from a request, without source and subject, which the receiver sets. `to` is the address that the request names. */
type Read = Omit<EventInput, 'source' | 'subject'> & { readonly to?: string | undefined };

function read(request: WebhookRequest): { events: readonly Read[]; deliveries: readonly string[] } {
  const { receiver, body, headers } = request;
  switch (receiver.kind) {
    case 'cloudevents':
      return { events: cloudEvents(request), deliveries: [] };
    case 'github': {
      const [event, delivery] = [needed(headers, 'x-github-event'), needed(headers, 'x-github-delivery')];
      const told = githubEvent(payloadOf(githubBody(request)), event, delivery);
      // GitHub does not sign the delivery id, so a repetition is recognized by the signed body.
      const id = bodyId(body);
      return { events: told === undefined ? [] : [{ ...told, id }], deliveries: [id] };
    }
    case 'standard': {
      const payload = payloadOf(json(request));
      const id = needed(headers, 'webhook-id');
      const map = {
        type: '{type}',
        time: '{timestamp}',
        ...(isTable(payload['data']) ? { data: '{data}' } : {}),
        ...receiver.map,
      };
      return { events: [fromMap(payload, { ...request, receiver: { ...receiver, map } }, id)], deliveries: [id] };
    }
    case 'alertmanager':
      return { events: alertEvents(payloadOf(json(request))), deliveries: [] };
    case 'json': {
      const payload = json(request);
      return { events: [fromMap(payload, request, undefined)], deliveries: [] };
    }
    default:
      return receiver.kind satisfies never;
  }
}

function fromMap(payload: Json, { receiver }: WebhookRequest, id: string | undefined): Read {
  const { subject, ...event } = mapped(payload, receiver.map ?? {}, receiver.name);
  const { project } = parseAddress(receiver.to);
  // The map fills `subject` with the name or the address of an agent.
  const to = subject === undefined || subject.includes('/') ? subject : `${project}/${subject}`;
  return { ...event, ...defined({ id }), to };
}

function cloudEvents({ headers, body }: WebhookRequest): readonly Read[] {
  const type = headers['content-type'] ?? '';
  if (/^application\/cloudevents-batch\+json/iu.test(type)) {
    const batch = jsonOf(body);
    if (!Array.isArray(batch))
      throw new Refused(400, 'malformed', 'the content type names a batch, but the body is not a list; send a list of events');
    if (batch.length > WEBHOOK_LIMITS.events)
      throw new Refused(
        413,
        'too_big',
        `the batch has ${batch.length} events, at most ${WEBHOOK_LIMITS.events} are allowed; send several batches`,
      );
    return (batch as readonly Json[]).map((each) => fromCloudEvent(each));
  }
  if (/^application\/cloudevents\+json/iu.test(type)) return [fromCloudEvent(jsonOf(body))];
  if (headers['ce-specversion'] === undefined)
    throw new Refused(
      415,
      'wrong_content_type',
      `the content type is ${shown(type)}; send a CloudEvent as application/cloudevents+json, as application/cloudevents-batch+json, or with ce-specversion and its other attributes in headers`,
    );
  const attributes: Record<string, Json> = {};
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith('ce-') && value !== undefined) attributes[name.slice(3)] = decoded(name, value);
  if ((type === '' || isJsonType(type)) && body.length > 0) jsonOf(body);
  const { data: _data, data_base64: _base64, ...rest } = attributes;
  return [fromCloudEvent({ ...rest, ...(type === '' ? {} : { datacontenttype: type }), data: asData(body, type || undefined) })];
}

/** Reads a CloudEvent. The sender's source becomes part of the id. Fields that could affect other notifications are left out. */
function fromCloudEvent(json: Json): Read {
  const given = eventFromCloudEvent(json, { subject: '-' });
  const { source: _source, subject, about: _about, purpose: _purpose, deliver: _deliver, ...event } = given;
  const [first = ''] = event.type.split('.');
  if (RESERVED.has(first))
    throw new Refused(
      422,
      'bad_event',
      `the type ${JSON.stringify(event.type.slice(0, 80))} belongs to a built-in source (${first}.*); choose another name, such as com.example.${event.type.slice(0, 60)}`,
    );
  return { ...event, id: idOfSender(given), to: subject };
}

const OPEN = ['github', 'alert', 'webhook', 'cli'];
const RESERVED: ReadonlySet<string> = new Set([
  ...Object.keys(EVENT_TYPES)
    .map((type) => type.split('.')[0] ?? '')
    .filter((first) => !OPEN.includes(first)),
  'earpiece',
  'user',
]);

/** Returns the event with the source, address, key and severity that the receiver determines. */
function checked({ to, key, id, ...event }: Read, { receiver, now }: WebhookRequest): EventInput {
  const source = `webhook/${receiver.name}`;
  const { id: _made, ...made } = makeEvent(
    {
      ...event,
      source,
      subject: addressee(receiver.to, to),
      severity: event.severity === 'critical' ? 'error' : (event.severity ?? 'info'),
      ...(key === undefined ? {} : { key: `${source}:${key.length <= 150 ? key : checksum(key)}` }),
    },
    { id: 'created when the event is emitted', now },
  );
  if (id === undefined) return made;
  return { ...made, id: id.length <= EVENT_LIMITS.textChars ? id : `${id.slice(0, 200)}~${checksum(id)}` };
}

/**
 * Returns the address of an event. If the receiver is for a whole project, the request may name one of the project's agents. Any
 * other receiver has a fixed address.
 */
function addressee(to: string, wanted: string | undefined): string {
  const own = parseAddress(to);
  if (own.kind !== 'project' || wanted === undefined) return to;
  try {
    const meant = parseAddress(wanted);
    return meant.project === own.project ? formatAddress(meant) : to;
  } catch {
    return to;
  }
}

function json({ headers, body }: WebhookRequest): Json {
  const type = headers['content-type'];
  if (type !== undefined && !isJsonType(type))
    throw new Refused(415, 'wrong_content_type', `the content type is ${shown(type)}; send application/json`);
  return jsonOf(body);
}

/** Returns the payload of a GitHub request, which is JSON or a form that contains JSON. */
function githubBody(request: WebhookRequest): Json {
  if (!/^application\/x-www-form-urlencoded/iu.test(request.headers['content-type'] ?? '')) return json(request);
  const payload = new URLSearchParams(request.body.toString('utf8')).get('payload');
  if (payload === null)
    throw new Refused(
      400,
      'malformed',
      'the form has no field "payload"; set the content type of the webhook to application/json',
    );
  return jsonOf(Buffer.from(payload), 'the field "payload"');
}

function payloadOf(value: Json): Payload {
  if (!isTable(value)) throw new Refused(422, 'bad_event', 'the body is not a JSON object; send an object');
  return value;
}

function needed(headers: Headers, name: string): string {
  const value = headers[name]?.trim();
  if (!value) throw new Refused(400, 'malformed', `the header ${name} is missing; send this header`);
  return value;
}

/** Decodes the value of a CloudEvents header, which is percent-encoded. */
function decoded(name: string, value: string): string {
  try {
    return decodeURIComponent(value.trim().replace(/^"(.*)"$/u, '$1'));
  } catch {
    throw new Refused(400, 'malformed', `the header ${name} is not percent-encoded correctly`);
  }
}

const shown = (text: string): string => (text === '' ? 'missing' : JSON.stringify(text.slice(0, 80)));
