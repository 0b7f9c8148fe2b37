/**
 * A request of a webhook, judged: the events that it means, or why it means none. Reads no clock, opens nothing, and throws
 * for nothing that a stranger sends. What comes in this way is held apart from what our own sources see: its source is
 * `webhook/<name>` (never more urgent than `error`, whatever it claims), its keys are its own, so that it neither counts
 * into, replaces nor takes back what others said, and the types of our own sources are refused.
 */
import { EVENT_TYPES } from '../../bus/event-types.ts';
import { formatAddress, parseAddress } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import { checksum, EVENT_LIMITS, makeEvent, type EventInput } from '../../core/event.ts';
import type { Json } from '../../core/json.ts';
import { alertEvents } from './alertmanager.ts';
import { checkSize, jsonOf } from './body.ts';
import { asData, eventFromCloudEvent, isJsonType, isTable } from './cloud-event.ts';
import { githubEvent } from './github.ts';
import { mapped } from './mapping.ts';
import { Refused, WEBHOOK_LIMITS, type Payload, type Refusal, type WebhookReceiver } from './receiver.ts';
import { bodyId, checkSignature, type Headers } from './signatures.ts';

export type WebhookRequest = {
  /** Names in lower case. */
  readonly headers: Headers;
  /** As it came: signatures are about bytes. */
  readonly body: Buffer;
  readonly receiver: WebhookReceiver;
  /** Epoch ms, of the log: it never runs back. */
  readonly now: number;
  /** Epoch ms, of the clock: how old what is signed is. One that was ahead for a moment must not refuse everybody for as long. Default: `now`. */
  readonly clock?: number;
  /** Whether this delivery was received before, see `replayWindow`. Default: none was. */
  readonly seen?: (delivery: string) => boolean;
};

export type Received =
  /**
   * To be emitted, in this order; none for a greeting. When all of it is durable, `deliveries` are to be remembered: not
   * before, for a sender whose delivery failed sends it again.
   */
  { readonly kind: 'events'; readonly events: readonly EventInput[]; readonly deliveries: readonly string[] } | Refusal;

export function receive(request: WebhookRequest): Received {
  try {
    checkSize(request.body);
    checkSignature({ ...request, now: request.clock ?? request.now });
    const { events, deliveries } = read(request);
    // Whoever sends it again has not seen our answer: it did arrive, and nothing is to be sent a third time.
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

/** Without source and subject, which the receiver decides; `to` is whom it is said to concern. */
type Read = Omit<EventInput, 'source' | 'subject'> & { readonly to?: string | undefined };

function read(request: WebhookRequest): { events: readonly Read[]; deliveries: readonly string[] } {
  const { receiver, body, headers } = request;
  switch (receiver.kind) {
    case 'cloudevents':
      return { events: cloudEvents(request), deliveries: [] };
    case 'github': {
      const [event, delivery] = [needed(headers, 'x-github-event'), needed(headers, 'x-github-delivery')];
      const told = githubEvent(payloadOf(githubBody(request)), event, delivery);
      // The id that GitHub gives is not signed: what is signed tells a repetition, whatever stands around it.
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
  // Whoever wrote the map said that this is an agent.
  const to = subject === undefined || subject.includes('/') ? subject : `${project}/${subject}`;
  return { ...event, ...(id === undefined ? {} : { id }), to };
}

function cloudEvents({ headers, body }: WebhookRequest): readonly Read[] {
  const type = headers['content-type'] ?? '';
  if (/^application\/cloudevents-batch\+json/iu.test(type)) {
    const batch = jsonOf(body);
    if (!Array.isArray(batch)) throw new Refused(400, 'malformed', 'the body is no list, and its content type says a batch');
    if (batch.length > WEBHOOK_LIMITS.events)
      throw new Refused(413, 'too_big', `the batch has ${batch.length} events, at most ${WEBHOOK_LIMITS.events} are taken`);
    return (batch as readonly Json[]).map((each) => fromCloudEvent(each));
  }
  if (/^application\/cloudevents\+json/iu.test(type)) return [fromCloudEvent(jsonOf(body))];
  if (headers['ce-specversion'] === undefined)
    throw new Refused(
      415,
      'wrong_content_type',
      `the content type is ${shown(type)}; a CloudEvent comes as application/cloudevents+json, application/cloudevents-batch+json, or with ce-specversion and its other attributes in headers`,
    );
  const attributes: Record<string, Json> = {};
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith('ce-') && value !== undefined) attributes[name.slice(3)] = decoded(name, value);
  if ((type === '' || isJsonType(type)) && body.length > 0) jsonOf(body);
  const { data: _data, data_base64: _base64, ...rest } = attributes;
  return [fromCloudEvent({ ...rest, ...(type === '' ? {} : { datacontenttype: type }), data: asData(body, type || undefined) })];
}

/** The sender's source is part of what makes its ids unique; what moves others' notifications is left out. */
function fromCloudEvent(json: Json): Read {
  const {
    source,
    subject,
    about: _about,
    purpose: _purpose,
    deliver: _deliver,
    ...event
  } = eventFromCloudEvent(json, { subject: '-' });
  const [first = ''] = event.type.split('.');
  if (RESERVED.has(first))
    throw new Refused(
      422,
      'bad_event',
      `the type ${JSON.stringify(event.type.slice(0, 80))} belongs to a source of ours (${first}.*); give it a name of its own, such as com.example.${event.type.slice(0, 60)}`,
    );
  return { ...event, id: `${source} ${event.id ?? ''}`, to: subject };
}

const OPEN = ['github', 'alert', 'webhook', 'cli'];
const RESERVED: ReadonlySet<string> = new Set([
  ...Object.keys(EVENT_TYPES)
    .map((type) => type.split('.')[0] ?? '')
    .filter((first) => !OPEN.includes(first)),
  'earpiece',
  'user',
]);

/** Ours now: source, address, key and level are those of the receiver. */
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
    { id: 'made when it is emitted', now },
  );
  if (id === undefined) return made;
  return { ...made, id: id.length <= EVENT_LIMITS.textChars ? id : `${id.slice(0, 200)}~${checksum(id)}` };
}

/** A receiver for a whole project may be told which agent of it is meant; any other is for whom it says, whoever asks. */
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
    throw new Refused(415, 'wrong_content_type', `the content type is ${shown(type)}; it has to be application/json`);
  return jsonOf(body);
}

/** GitHub sends JSON, or a form with JSON in it where its owner left that so. */
function githubBody(request: WebhookRequest): Json {
  if (!/^application\/x-www-form-urlencoded/iu.test(request.headers['content-type'] ?? '')) return json(request);
  const payload = new URLSearchParams(request.body.toString('utf8')).get('payload');
  if (payload === null) throw new Refused(400, 'malformed', 'the form has no field "payload"');
  return jsonOf(Buffer.from(payload), 'the field "payload"');
}

function payloadOf(value: Json): Payload {
  if (!isTable(value)) throw new Refused(422, 'bad_event', 'the body is no JSON object');
  return value;
}

function needed(headers: Headers, name: string): string {
  const value = headers[name]?.trim();
  if (!value) throw new Refused(400, 'malformed', `the header ${name} is missing`);
  return value;
}

/** Header values of CloudEvents are percent-encoded. */
function decoded(name: string, value: string): string {
  try {
    return decodeURIComponent(value.trim().replace(/^"(.*)"$/u, '$1'));
  } catch {
    throw new Refused(400, 'malformed', `the header ${name} is not encoded as it should be`);
  }
}

const shown = (text: string): string => (text === '' ? 'missing' : JSON.stringify(text.slice(0, 80)));
