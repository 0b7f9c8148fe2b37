/**
 * Reads and writes events as CloudEvents 1.0 in JSON. The attribute `subject` is the address. Earpiece adds these extension
 * attributes: `severity`, `message`, `key`, `supersede`, `about`, `purpose`, `ttlms` (milliseconds) and `deliver` (a moment such
 * as `turn_start`, an RFC 3339 time, `turns:3` or `after:<tool>`). Other extension attributes are not kept.
 */
import { defined } from '../../core/defined.ts';
import { didYouMean, EarpieceError } from '../../core/errors.ts';
import { SEVERITIES, type Event, type EventInput } from '../../core/event.ts';
import { nestsDeeper, tooDeep, type Json } from '../../core/json.ts';
import { MOMENTS, type Deliver } from '../../core/notification.ts';
import { WEBHOOK_LIMITS } from './receiver.ts';

/**
 * Defaults for missing attributes. Without a default `source`, an event must have the four attributes that the specification
 * requires.
 */
export type CloudEventDefaults = {
  readonly subject?: string;
  readonly source?: string;
};

const ATTRIBUTES = {
  required: ['specversion', 'id', 'source', 'type'],
  others: ['subject', 'time', 'datacontenttype', 'dataschema', 'data', 'data_base64'],
  ours: ['severity', 'message', 'key', 'supersede', 'about', 'purpose', 'ttlms', 'deliver'],
} as const;

const KNOWN: readonly string[] = Object.values(ATTRIBUTES).flat();

type Table = { readonly [name: string]: Json };

/**
 * Reads an event. Throws `bad_event` with the attribute, its value and the allowed values. `emit` later checks the form of the
 * type and the size of the data.
 */
export function eventFromCloudEvent(json: Json, defaults: CloudEventDefaults = {}): EventInput {
  if (!isTable(json))
    throw bad(undefined, `a CloudEvent is a JSON object with ${ATTRIBUTES.required.join(', ')}, got ${shown(json)}`);
  const lenient = defaults.source !== undefined;
  if (lenient) checkNames(json);
  const { specversion } = json;
  if (specversion !== '1.0' && !(lenient && specversion === undefined))
    throw wrong('specversion', specversion, 'must be "1.0", the supported version');
  const text = (name: string): string | undefined => {
    const value = json[name];
    if (value === undefined || value === null) return undefined;
    return typeof value === 'string' && value.trim() !== ''
      ? value
      : badAttribute(name, value, 'needs a text that is not blank; leave the attribute out if there is no text');
  };
  const needed = (name: string, otherwise: string | undefined): string =>
    text(name) ?? otherwise ?? badAttribute(name, undefined, 'is missing; every CloudEvent needs this attribute');

  const id = lenient ? text('id') : needed('id', undefined);
  const time = timeOf(text('time'));
  const severity = text('severity');
  if (severity !== undefined && !(SEVERITIES as readonly string[]).includes(severity)) {
    const near = didYouMean(severity, SEVERITIES);
    throw wrong(
      'severity',
      severity,
      `must be one of ${SEVERITIES.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`,
    );
  }
  const { supersede, ttlms } = json;
  // In HTTP headers, the values of all attributes are texts.
  if (supersede !== undefined && ![true, false, 'true', 'false'].some((word) => word === supersede))
    throw wrong('supersede', supersede, 'must be true or false');
  if (ttlms !== undefined && !(Number.isSafeInteger(Number(ttlms)) && Number(ttlms) > 0))
    throw wrong('ttlms', ttlms, 'must be a whole number of milliseconds above 0');
  const [message, key, about, purpose] = [text('message'), text('key'), text('about'), text('purpose')];
  const deliver = deliverOf(text('deliver'));
  return {
    type: needed('type', undefined),
    source: needed('source', defaults.source),
    subject: needed('subject', defaults.subject),
    ...defined({ id, time }),
    ...(severity === undefined ? {} : { severity: severity as Event['severity'] }),
    data: dataOf(json, text('datacontenttype')),
    ...defined({ message, key }),
    ...(supersede === undefined ? {} : { supersede: supersede === true || supersede === 'true' }),
    ...defined({ about, purpose }),
    ...(ttlms === undefined ? {} : { ttlMs: Number(ttlms) }),
    ...defined({ deliver }),
  };
}

/** Makes a CloudEvent from an event. The event's `origin` is private and is left out. */
export function cloudEventOf(event: Event): Record<string, Json> {
  const { key, about, supersede, ttlMs, purpose, deliver, message } = event;
  return {
    specversion: '1.0',
    id: event.id,
    source: event.source,
    type: event.type,
    subject: event.subject,
    time: new Date(event.time).toISOString(),
    severity: event.severity,
    ...defined({ message, key, supersede, about, purpose, ttlms: ttlMs }),
    ...(deliver === undefined ? {} : { deliver: deliverText(deliver) }),
    datacontenttype: 'application/json',
    data: event.data,
  };
}

/** Reads one event, a list of events, or one event per line. Throws `bad_event` with the line or the position in the list. */
export function cloudEventsIn(text: string, defaults: CloudEventDefaults = {}): readonly EventInput[] {
  return jsonIn(text).map(({ json, where }) => {
    try {
      return eventFromCloudEvent(json, defaults);
    } catch (error) {
      if (!(error instanceof EarpieceError) || where === '') throw error;
      throw new EarpieceError(error.code, `${where}: ${error.message}`, { data: error.data, cause: error });
    }
  });
}

function jsonIn(given: string): readonly { readonly json: Json; readonly where: string }[] {
  const text = given.replace(/^\uFEFF/u, '');
  const lines = text.split('\n').flatMap((line, i) => (line.trim() === '' ? [] : [{ line, where: `line ${i + 1}` }]));
  if (lines.length === 0) throw bad(undefined, 'the input is blank; write at least one event');
  // In a list, an event is nested one level deeper.
  if (nestsDeeper(text, WEBHOOK_LIMITS.depth + 1)) throw bad('data', tooDeep('event data'));
  let whole: Json;
  try {
    whole = JSON.parse(text) as Json;
  } catch (error) {
    // If the first of several lines is valid JSON, each line is an event. Otherwise the whole text is one invalid value.
    if (lines.length === 1 || !isJson(lines[0]?.line ?? '')) throw noJson('the input', error);
    return lines.map(({ line, where }) => {
      try {
        return { json: JSON.parse(line) as Json, where };
      } catch (cause) {
        throw noJson(where, cause);
      }
    });
  }
  if (!Array.isArray(whole)) return [{ json: whole, where: '' }];
  if (whole.length === 0) throw bad(undefined, 'the list is empty; write at least one event');
  return (whole as readonly Json[]).map((json, i) => ({ json, where: `event ${i + 1} of the list` }));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const noJson = (what: string, error: unknown): EarpieceError =>
  bad(
    undefined,
    // The parser quotes the text, which may have several lines.
    `${what} is not JSON (${(error as Error).message.replace(/\s+/g, ' ')}); write {"type": "build.failed", "data": {…}}, a list of such objects, or one object per line`,
  );

function checkNames(json: Table): void {
  for (const name of Object.keys(json)) {
    if (KNOWN.includes(name)) continue;
    const near = didYouMean(name, KNOWN);
    if (near !== undefined) throw bad(name, `event attribute ${JSON.stringify(name)} is unknown; did you mean ${near}?`);
    if (!/^[a-z0-9]{1,64}$/.test(name))
      throw bad(
        name,
        `event attribute ${JSON.stringify(name.slice(0, 80))} is unknown, and not a valid extension (1 to 64 lower-case letters and digits); put other values into data`,
      );
  }
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/u;

export function rfc3339(text: string): number | undefined {
  const at = RFC_3339.test(text) ? Date.parse(text.toUpperCase()) : Number.NaN;
  return Number.isFinite(at) ? at : undefined;
}

function timeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return rfc3339(text) ?? badAttribute('time', text, 'must be an RFC 3339 time such as "2026-05-01T10:00:00Z"');
}

function deliverOf(text: string | undefined): Deliver | undefined {
  if (text === undefined) return undefined;
  if ((MOMENTS as readonly string[]).includes(text)) return text as Deliver;
  const [, turns] = /^turns:(\d{1,4})$/.exec(text) ?? [];
  if (turns !== undefined && Number(turns) > 0) return { afterTurns: Number(turns) };
  const [, afterTool] = /^after:(\S{1,256})$/.exec(text) ?? [];
  if (afterTool !== undefined) return { afterTool };
  const at = rfc3339(text);
  if (at !== undefined) return { at };
  const near = didYouMean(text, MOMENTS);
  throw wrong(
    'deliver',
    text,
    `must be one of ${MOMENTS.join(', ')}, turns:<n>, after:<tool>, or a time such as "2026-05-01T10:00:00Z"${near === undefined ? '' : `; did you mean ${near}?`}`,
  );
}

function deliverText(deliver: Deliver): string {
  if (typeof deliver === 'string') return deliver;
  if ('at' in deliver) return new Date(deliver.at).toISOString();
  return 'afterTurns' in deliver ? `turns:${deliver.afterTurns}` : `after:${deliver.afterTool}`;
}

/**
 * Returns the data of an event. A value that is not an object becomes an object with the key `value`, `text` or `base64`. Throws
 * `bad_event` for invalid data.
 */
function dataOf(json: Table, contentType: string | undefined): Event['data'] {
  const { data, data_base64: base64 } = json;
  if (base64 !== undefined) {
    if (data !== undefined) throw bad('data_base64', 'the event has both data and data_base64; write only one');
    if (typeof base64 !== 'string' || !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64))
      throw wrong('data_base64', base64, 'must be a text in base64');
    return asData(Buffer.from(base64, 'base64'), contentType);
  }
  if (data === undefined || data === null) return {};
  if (isTable(data)) return data;
  return typeof data === 'string' && contentType !== undefined && !isJsonType(contentType) ? { text: data } : { value: data };
}

export const isJsonType = (contentType: string): boolean =>
  /^(?:application|text)\/(?:[\w.+-]+\+)?json(?:$|[\s;])/iu.test(contentType.trim());

/** Makes an event's data from bytes. Throws `bad_event` for invalid JSON. */
export function asData(bytes: Buffer, contentType: string | undefined): Event['data'] {
  if (bytes.length === 0) return {};
  if (contentType === undefined || isJsonType(contentType)) {
    let json: Json;
    const text = bytes.toString('utf8');
    if (nestsDeeper(text, WEBHOOK_LIMITS.depth)) throw bad('data', tooDeep('event data'));
    try {
      json = JSON.parse(text) as Json;
    } catch (error) {
      throw bad('data', `event data is not JSON (${(error as Error).message}); send valid JSON, or set another datacontenttype`);
    }
    return isTable(json) ? json : { value: json };
  }
  try {
    if (/^text\//iu.test(contentType)) return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    // The data are not UTF-8, so they are kept as base64.
  }
  return { base64: bytes.toString('base64') };
}

export const isTable = (json: Json | undefined): json is Table =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

const bad = (attribute: string | undefined, message: string): EarpieceError =>
  new EarpieceError('bad_event', message, attribute === undefined ? {} : { data: { field: attribute } });

const wrong = (attribute: string, value: Json | undefined, allowed: string): EarpieceError =>
  bad(attribute, `event attribute ${attribute}${value === undefined ? '' : ` ${shown(value)}:`} ${allowed}`);

function badAttribute(attribute: string, value: Json | undefined, allowed: string): never {
  throw wrong(attribute, value, allowed);
}

function shown(value: Json): string {
  if (Array.isArray(value)) return 'a list';
  if (isTable(value)) return 'an object';
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
