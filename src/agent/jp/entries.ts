/**
 * Converts JP's conversation files to records and back. JP writes each event as one entry: `timestamp`, `type`, its fields and
 * `metadata`. Strings in tool arguments, tool results and metadata are base64 in the file. Unknown fields are kept, so that
 * writing an entry again gives the same entry.
 */
import { defined } from '../../core/defined.ts';
import type { Json } from '../../core/json.ts';
import type { Draft } from '../../core/records.ts';

export type JpEntry = { readonly type: string; readonly timestamp?: string } & { readonly [key: string]: Json };
type Table = { readonly [key: string]: Json };

/**
 * Converts one entry of a JP conversation to a record. `metadata.jp` contains JP's own fields. `metadata.provider` contains the
 * fields that the provider needs in later requests.
 */
export function recordOf(entry: JpEntry): Draft {
  const { timestamp, metadata: encoded, ...rest } = entry;
  const metadata = encoded === undefined ? undefined : (decoded(encoded) as Table);
  const body = decodeFields(rest);
  const provider = providerOf(metadata);
  const jp = { ...defined({ timestamp, metadata }) };
  const record = { ...body, metadata: { jp, ...defined({ provider }) } } as unknown as Draft;
  // A field that is not valid base64 does not survive the conversion to a record and back. The record then also keeps the whole
  // entry.
  if (JSON.stringify(entryOf(record)) === JSON.stringify(ordered(entry))) return record;
  return { ...record, metadata: { jp: { ...jp, entry }, ...defined({ provider }) } };
}

/** Returns the entry of one record, with keys in JP's order: `timestamp`, `type`, the rest, `metadata`. */
export function entryOf(record: Draft): JpEntry {
  const {
    metadata,
    conversation: _conversation,
    view: _view,
    summarizes: _summarizes,
    counts: _counts,
    ...body
  } = record as unknown as Table & { type: string; metadata?: Table };
  const jp = (metadata?.['jp'] ?? {}) as { timestamp?: string; metadata?: Table; entry?: JpEntry };
  if (jp.entry !== undefined) return jp.entry;
  return ordered({
    ...defined({ timestamp: jp.timestamp }),
    ...encodeFields(body),
    ...(jp.metadata === undefined ? {} : { metadata: encoded_(jp.metadata) }),
  } as JpEntry);
}

const ordered = ({ timestamp, type, metadata, ...rest }: JpEntry): JpEntry => ({
  ...defined({ timestamp }),
  type,
  ...rest,
  ...defined({ metadata }),
});

/** Returns the signature in JP's metadata. A provider refuses reasoning without this signature. */
function providerOf(metadata: Table | undefined): Table | undefined {
  const anthropic = metadata?.['anthropic_thinking_signature'];
  if (typeof anthropic === 'string') return { anthropic: { signature: anthropic } };
  const redacted = metadata?.['anthropic_redacted_thinking'];
  if (typeof redacted === 'string') return { anthropic: { redactedData: redacted } };
  const google = metadata?.['google_thought_signature'];
  return typeof google === 'string' ? { google: { thoughtSignature: google } } : undefined;
}

const FIELDS: Readonly<Record<string, string>> = { tool_call_request: 'arguments', tool_call_response: 'content' };

function decodeFields(entry: Table & { type: string }): Table {
  const field = FIELDS[entry.type];
  return field === undefined || entry[field] === undefined ? entry : { ...entry, [field]: decoded(entry[field]) };
}
function encodeFields(entry: Table & { type: string }): Table {
  const field = FIELDS[entry.type];
  return field === undefined || entry[field] === undefined ? entry : { ...entry, [field]: encoded_(entry[field]) };
}

/** Decodes every base64 string in the value. A string that is not UTF-8 text in base64 stays unchanged. */
function decoded(value: Json): Json {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value, 'base64');
    const text = bytes.toString('utf8');
    return bytes.toString('base64') === value && Buffer.from(text, 'utf8').equals(bytes) ? text : value;
  }
  return mapped(value, decoded);
}
const encoded_ = (value: Json): Json =>
  typeof value === 'string' ? Buffer.from(value, 'utf8').toString('base64') : mapped(value, encoded_);

function mapped(value: Json, each: (value: Json) => Json): Json {
  if (Array.isArray(value)) return value.map(each);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, each(inner)]));
  return value;
}
