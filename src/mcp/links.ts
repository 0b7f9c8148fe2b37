import { ChildServer } from './child.ts';
import { absentLink, type Link, type LinkEvents } from './link.ts';
import type { Upstream } from './upstream.ts';

/** Makes the way to a server. It is started by the caller. */
export type MakeLink = (upstream: Upstream, events: LinkEvents) => Link;

/** For these servers: `node:http` alone takes longer to load than all of ours, and most gateways have no server behind HTTP. */
export async function linksTo(upstreams: readonly Upstream[]): Promise<MakeLink> {
  const http = upstreams.some(({ kind }) => kind === 'http') ? await import('./http/link.ts') : undefined;
  return (upstream, events) => {
    switch (upstream.kind) {
      case 'stdio':
        return new ChildServer(upstream, events);
      case 'http':
        if (http === undefined) throw new TypeError(`nobody has said before that ${upstream.name} is behind HTTP`);
        return new http.HttpLink(upstream, events);
      case 'absent':
        return absentLink(upstream.why, events);
      default:
        return upstream satisfies never;
    }
  };
}
