import type { Readable, Writable } from 'node:stream';

import { GuardedRider } from './guarded.ts';
import { profileOf, type ClientInfo, type Profile, type ProfileKind } from './profiles.ts';
import type { Rider } from './rider.ts';
import { Session } from './session.ts';
import { Settling } from './settling.ts';
import { StdioClient } from './stdio.ts';
import { Catalog } from './tools.ts';
import type { Upstream } from './upstream.ts';

export type GatewayOptions = {
  readonly front: Front;
  /** One: it is wrapped, and the client sees it as if there were no gateway. Several: the gateway stands for all of them. */
  readonly upstreams: readonly Upstream[];
  readonly rider: Rider;
  /** By default chosen by the client's name. */
  readonly profile?: ProfileKind;
  /** The conversation that all of this gateway's clients belong to, where they do not name one themselves. */
  readonly session?: string;
  /** One line for a person. By default to stderr, with `earpiece: ` before it. */
  readonly report?: (line: string) => void;
};

export type Front = { readonly kind: 'stdio'; readonly input?: Readable; readonly output?: Writable };

export type Gateway = {
  /** Resolves when the gateway has ended, with why, after the last of its processes. */
  readonly closed: Promise<Closed>;
  /** Ends it. With `now` the servers get no time to end by themselves: for when we were told to go by a signal. */
  close(options?: { readonly now?: boolean }): Promise<void>;
};

export type Closed = { readonly reason: 'client_ended' | 'upstream_failed' | 'closed'; readonly detail: string };

/** How long a server may go on when its client hangs up on an open request: as it would when its stdin ends directly. */
const BUSY_GRACE_MS = 1_200;

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { upstreams } = options;
  const report = options.report ?? ((line: string) => process.stderr.write(`earpiece: ${line}\n`));
  const rider = new GuardedRider(options.rider, report);
  const [upstream] = upstreams;
  if (upstream === undefined || upstreams.length > 1) throw new Error('a gateway needs one server');
  return wrapped(options, options.front, upstream, rider, report);
}

function wrapped(
  options: GatewayOptions,
  front: Front,
  upstream: Upstream,
  rider: GuardedRider,
  report: (line: string) => void,
): Gateway {
  const { promise: closed, resolve } = Promise.withResolvers<Closed>();
  const settling = new Settling();
  let closing: Promise<void> | undefined;
  const close = (reason: Closed['reason'], detail: string, graceMs?: number): Promise<void> => {
    const stopped = session.close(graceMs === undefined ? {} : { graceMs });
    return (closing ??= stopped.then(() => {
      client.close();
      return resolve({ reason, detail });
    }));
  };
  const client = new StdioClient({ input: front.input ?? process.stdin, output: front.output ?? process.stdout }, settling, {
    frame: (frame) => session.fromClient(frame),
    tooLong: (gone) => session.clientFrameTooLong(gone),
    drain: () => session.resume(),
    end: (why) => void close('client_ended', why, session.busy ? BUSY_GRACE_MS : undefined),
  });
  const session = new Session({
    upstream,
    rider,
    catalog: new Catalog(),
    key: 'stdio',
    settling,
    report,
    profile: fixedProfile(options.profile),
    ...(options.session !== undefined && { session: options.session }),
    channel: {
      send: (out) => client.send(out),
      pause: () => client.pause(),
      resume: () => client.resume(),
      gone: (why) => void close('upstream_failed', why, 0),
    },
  });
  session.start();
  client.start();
  return { closed, close: ({ now = false } = {}) => close('closed', 'close was called', now ? 0 : undefined) };
}

/** A profile that was asked for by name keeps the client's own limits. */
export function fixedProfile(kind: ProfileKind | undefined): (client: ClientInfo | undefined) => Profile {
  return (client) => {
    const own = profileOf(client);
    return kind === undefined ? own : { ...own, kind };
  };
}
