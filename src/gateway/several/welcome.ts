/** The gateway's own answers to a client of several servers. */
import { resultFrame, type Request } from '../../mcp/frames/frame.ts';
import { isStateless, LEGACY_VERSION, LEGACY_VERSIONS } from '../../mcp/frames/protocol.ts';
import type { Peer } from '../peer.ts';

export type Welcome = { readonly instructions?: string } & Readonly<Record<string, unknown>>;

/**
 * Makes the handshake answer. `version` is the version that a client of the older generation asks for. `pending` is true while
 * some servers may still become ready.
 */
export function welcome(
  peers: readonly Peer[],
  { version, pending }: { readonly version: string | undefined; readonly pending: boolean },
): Welcome {
  const ready = peers.filter((peer) => peer.ready);
  // Capabilities cannot be announced later, and the capabilities of a pending server are unknown. So the gateway declares all
  // capabilities.
  const has = (capability: string): boolean => pending || ready.some((peer) => peer.can(capability));
  const parts = ready.flatMap(({ name, instructions }) => (instructions === undefined ? [] : [`${name}: ${instructions}`]));
  return {
    ...(version !== undefined && { protocolVersion: LEGACY_VERSIONS.includes(version) ? version : LEGACY_VERSION }),
    capabilities: {
      tools: { listChanged: true },
      ...(has('prompts') && { prompts: { listChanged: true } }),
      ...(has('resources') && { resources: { listChanged: true, subscribe: true } }),
      ...(has('completions') && { completions: {} }),
      ...(has('logging') && { logging: {} }),
    },
    serverInfo: { name: 'earpiece', version: '1', title: titleOf(peers) },
    ...(parts.length > 0 && { instructions: parts.join('\n\n') }),
  };
}

/** Makes the frame of a result that the gateway gives in place of the servers. */
export function ownResult(request: Request, result: object): Buffer {
  if (!isStateless(request)) return resultFrame(request.id, result);
  const isDiscovery = request.method === 'server/discover';
  return resultFrame(request.id, {
    ...result,
    resultType: 'complete',
    ...(isDiscovery && { ttlMs: 0, cacheScope: 'private' }),
  });
}

const titleOf = (peers: readonly Peer[]): string =>
  peers.length === 0 ? 'Earpiece' : `Earpiece before ${peers.map(({ name }) => name).join(', ')}`;
