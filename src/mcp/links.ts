import { ChildServer } from './child.ts';
import { absentLink, type Link, type LinkEvents } from './link.ts';
import type { Upstream } from './upstream.ts';

/** Makes the link to a server. The caller starts it. */
export type MakeLink = (upstream: Upstream, events: LinkEvents) => Link;

/**
 * Makes links for these servers. Loads only the needed modules: `node:http` alone takes longer than the rest of the gateway, and
 * most gateways have no server behind HTTP.
 */
export async function linksTo(upstreams: readonly Upstream[]): Promise<MakeLink> {
  const http = upstreams.some(({ kind }) => kind === 'http') ? await import('./http/link.ts') : undefined;
  return (upstream, events) => {
    switch (upstream.kind) {
      case 'stdio':
        return new ChildServer(upstream, events);
      case 'http':
        if (http === undefined) throw new TypeError(`the list of servers did not say that ${upstream.name} is behind HTTP`);
        return new http.HttpLink(upstream, events);
      case 'absent':
        return absentLink(upstream.why, events);
      default:
        return upstream satisfies never;
    }
  };
}
