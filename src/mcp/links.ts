import { ChildServer } from './child.ts';
import { absentLink, type Link, type LinkEvents } from './link.ts';
import type { Upstream } from './upstream.ts';

/** Makes the link to a server. The caller starts the link. */
export type MakeLink = (upstream: Upstream, events: LinkEvents) => Link;

/**
 * Returns a function that makes links to these servers. Only the needed modules are loaded: `node:http` alone takes longer than
 * the rest of the gateway, and most gateways have no HTTP server.
 */
export async function linksTo(upstreams: readonly Upstream[]): Promise<MakeLink> {
  const http = upstreams.some(({ kind }) => kind === 'http') ? await import('./http/link.ts') : undefined;
  return (upstream, events) => {
    switch (upstream.kind) {
      case 'stdio':
        return new ChildServer(upstream, events);
      case 'http':
        if (http === undefined) throw new TypeError(`linksTo() was called without the HTTP server ${upstream.name}`);
        return new http.HttpLink(upstream, events);
      case 'absent':
        return absentLink(upstream.why, events);
      default:
        return upstream satisfies never;
    }
  };
}
