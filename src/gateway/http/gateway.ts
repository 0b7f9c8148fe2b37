/** Makes a gateway that clients reach over HTTP. */
import { defined } from '../../core/defined.ts';
import type { Closed, Front, Gateway, GatewayOptions } from '../gateway.ts';
import { HttpPassthrough, type PassthroughOptions } from '../passthrough.ts';
import type { MakeEndpoint } from '../session.ts';
import { HttpFront, type HttpEndpoint } from './front.ts';
import { HttpSessions } from './sessions.ts';

type Common = Pick<PassthroughOptions, 'rider' | 'report' | 'profile'> & { readonly make: MakeEndpoint };

export async function httpGateway(options: GatewayOptions, front: Front & { kind: 'http' }, common: Common): Promise<Gateway> {
  const { promise: closed, resolve } = Promise.withResolvers<Closed>();
  const server = new HttpFront(front, endpointOf(options, front, common), common.report);
  const url = await server.listen();
  let closing: Promise<void> | undefined;
  const close = (how: { readonly now?: boolean } = {}): Promise<void> => {
    closing ??= server.close(how).then(() => resolve({ reason: 'closed', detail: 'close was called' }));
    return closing;
  };
  return { url, closed, close };
}

/**
 * Makes the HTTP endpoint. For a single HTTP server whose tools have no prefix, the endpoint passes requests through. Every other
 * setup gets sessions.
 */
function endpointOf(options: GatewayOptions, front: Front & { kind: 'http' }, { make, ...common }: Common): HttpEndpoint {
  const [upstream, ...others] = options.upstreams;
  const named = defined({ session: options.session });
  if (upstream?.kind !== 'http' || others.length > 0 || options.isPrefixed)
    return new HttpSessions((client) => make({ ...named, ...client }));
  return new HttpPassthrough({ ...named, ...common, upstream, ownsAuthorization: front.token !== undefined });
}
