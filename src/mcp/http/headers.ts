import { param, type Request } from '../frames/frame.ts';
import { stringAt } from '../frames/json.ts';

/**
 * Headers in which the stateless generation repeats parts of the body, so that proxies need not read the body. A server refuses
 * a request whose headers and body disagree.
 */
export const PROTOCOL_VERSION = 'mcp-protocol-version';
export const METHOD = 'mcp-method';
export const NAME = 'mcp-name';
export const SESSION_ID = 'mcp-session-id';

/** The header in which a client names its conversation. The gateway does not pass this header on. */
export const CONVERSATION = 'earpiece-conversation';

/** The member of `params` that the header Mcp-Name repeats. */
const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

export function nameIn(request: Request): string | undefined {
  const key = Object.hasOwn(NAMED_BY, request.method) ? NAMED_BY[request.method] : undefined;
  return key === undefined ? undefined : stringAt(request.bytes, param(request, key));
}

const ENCODED = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/**
 * Makes a header value from any text. Text that a header would not keep unchanged becomes Base64 between `=?base64?` and `?=`.
 */
export function headerValue(text: string): string {
  const plain = /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !ENCODED.test(text);
  return plain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

/** Decodes the text of a header value. Undefined if the value is malformed. */
export function headerText(value: string): string | undefined {
  const trimmed = value.trim();
  if (!trimmed.startsWith('=?base64?')) return trimmed;
  const encoded = ENCODED.exec(trimmed);
  return encoded ? Buffer.from(encoded[1]!, 'base64').toString() : undefined;
}

/** An argument of a tool that a header must repeat. The tool's inputSchema marks such a property with `x-mcp-header`. */
export type HeaderParam = { readonly header: string; readonly path: readonly string[] };

export function headerParams(inputSchema: unknown, path: readonly string[] = []): HeaderParam[] {
  if (typeof inputSchema !== 'object' || inputSchema === null) return [];
  const { 'x-mcp-header': header, properties } = inputSchema as { 'x-mcp-header'?: unknown; properties?: unknown };
  const own =
    typeof header === 'string' && /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(header) && path.length > 0 ? [{ header, path }] : [];
  if (typeof properties !== 'object' || properties === null) return own;
  return [...own, ...Object.entries(properties).flatMap(([key, schema]) => headerParams(schema, [...path, key]))];
}

export function paramHeaders(wanted: readonly HeaderParam[], args: unknown): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { header, path } of wanted) {
    let value = args;
    for (const key of path)
      value = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
    const unsafe = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
    if (typeof value === 'string' || typeof value === 'boolean' || (Number.isFinite(value) && !unsafe)) {
      headers[`mcp-param-${header.toLowerCase()}`] = headerValue(String(value));
    }
  }
  return headers;
}
