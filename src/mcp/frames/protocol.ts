import type { Note, Request } from './frame.ts';
import { param } from './frame.ts';
import { parsed, stringAt, type Range } from './json.ts';

/** The name and version of a client, from `initialize` or from a request of the stateless generation. */
export type ClientInfo = { readonly name: string; readonly version?: string };

/** The fields in which each request of the stateless generation (2026-07-28 and later) repeats the data of initialize. */
export const META_VERSION = 'io.modelcontextprotocol/protocolVersion';
export const META_CLIENT = 'io.modelcontextprotocol/clientInfo';

export const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** The field that names the subscription of a frame, by the id of its `subscriptions/listen`. */
export const META_SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';

/** The first version without initialize. Versions are dates, so they compare as text. */
export const STATELESS_SINCE = '2026-07-28';

/** The versions with initialize, newest first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
export const LEGACY_VERSION = '2025-11-25';

/** Whether a request contains its protocol version. The result of such a request must have `resultType`. */
export function isStateless(request: Request): boolean {
  return param(request, '_meta', META_VERSION) !== undefined;
}

/** Whether a request stays open until its stream ends. A restarted server gets such a request again. */
export function staysOpen({ method }: { readonly method: string }): boolean {
  return method === 'subscriptions/listen' || method === 'events/stream';
}

/** Returns the version that a request names: in the params of `initialize`, or in the envelope of a stateless request. */
export function versionOf(request: Request): string | undefined {
  const at = request.method === 'initialize' ? param(request, 'protocolVersion') : param(request, '_meta', META_VERSION);
  return stringAt(request.bytes, at);
}

export function clientInfoAt(request: Request): Range | undefined {
  return request.method === 'initialize' ? param(request, 'clientInfo') : param(request, '_meta', META_CLIENT);
}

export function clientInfoOf(request: Request): ClientInfo | undefined {
  const at = clientInfoAt(request);
  if (at === undefined) return undefined;
  const info = parsed(request.bytes, at);
  if (typeof info !== 'object' || info === null || !('name' in info) || typeof info.name !== 'string') return undefined;
  return 'version' in info && typeof info.version === 'string' ? { name: info.name, version: info.version } : { name: info.name };
}

export function toolOf(request: Request | Note): string | undefined {
  return stringAt(request.bytes, param(request, 'name'));
}

/** Returns the `_meta` envelope of a client's request, for the gateway's own requests in the stateless generation. */
export function envelopeOf(request: Request): Record<string, unknown> | undefined {
  const at = param(request, '_meta');
  if (at === undefined || !isStateless(request)) return undefined;
  const meta = (parsed(request.bytes, at) ?? {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(meta).filter(([key]) => key.startsWith('io.modelcontextprotocol/') && !key.endsWith('/logLevel')),
  );
}

/** The JSON-RPC codes of the gateway's own answers. */
export const INTERNAL_ERROR = -32603;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
