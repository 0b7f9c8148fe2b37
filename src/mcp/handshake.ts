/** Defines the two generations of MCP, and the handshake of a client in each generation. */
import { LEGACY_VERSION, META_CAPABILITIES, META_CLIENT, META_VERSION, STATELESS_SINCE } from './frames/protocol.ts';

/** A generation of the protocol. `legacy` begins with `initialize`. In `stateless`, each request names the client. */
export type Generation = 'legacy' | 'stateless';

/** How long a server that refused `initialize` may take to answer `server/discover`, in milliseconds. */
export const DISCOVER_MS = 2_000;

/** Makes the params of `initialize`. These params declare no capability, so the server sends no requests. */
export const initializeParams = (clientInfo: unknown): object => ({
  protocolVersion: LEGACY_VERSION,
  capabilities: {},
  clientInfo,
});

/** Makes the `_meta` envelope for a request in the stateless generation. */
export const envelope = (clientInfo: unknown): object => ({
  [META_VERSION]: STATELESS_SINCE,
  [META_CLIENT]: clientInfo,
  [META_CAPABILITIES]: {},
});

/** A server's answer to the handshake. */
export type Welcome = { readonly capabilities?: Readonly<Record<string, unknown>>; readonly instructions?: unknown };

/** Whether a result is a valid handshake answer. Some servers answer every request with `{}`, which is not valid. */
export function isWelcome(generation: Generation, result: unknown): result is Welcome {
  if (typeof result !== 'object' || result === null) return false;
  const { capabilities, protocolVersion, supportedVersions } = result as Record<string, unknown>;
  if (capabilities !== undefined && (typeof capabilities !== 'object' || capabilities === null)) return false;
  if (generation === 'legacy') return typeof protocolVersion === 'string' || capabilities !== undefined;
  return Array.isArray(supportedVersions) && supportedVersions.some((version) => version >= STATELESS_SINCE);
}
