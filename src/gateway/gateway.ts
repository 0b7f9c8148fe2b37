import type { Readable, Writable } from 'node:stream';

import { GuardedRider } from './riding/guarded.ts';
import { HttpFront, type HttpEndpoint, type HttpFrontOptions } from './http/front.ts';
import { HttpSessions, type MakeEndpoint } from './http/sessions.ts';
import { Multiplex } from './multiplex.ts';
import { HttpPassthrough } from './passthrough.ts';
import { profileOf, type ClientInfo, type Profile, type ProfileKind } from './riding/profiles.ts';
import type { Rider } from './riding/rider.ts';
import { Session, type Endpoint } from './session.ts';
import { Settling } from './riding/settling.ts';
import { PATIENCE, type Patience } from './several/starting.ts';
import { StdioClient } from './stdio.ts';
import { Catalog } from './riding/tools.ts';
import type { Upstream } from './upstream.ts';

export type GatewayOptions = {
  readonly front: Front;
  /**
   * One: it is wrapped, and the client sees it as if there were no gateway. Several: the gateway stands for all of them. None:
   * it is a server of its own, with the tools of its rider.
   */
  readonly upstreams: readonly Upstream[];
  readonly rider: Rider;
  /** By default chosen by the client's name. */
  readonly profile?: ProfileKind;
  /** Between the name of a server and that of its tool, when there are several servers. `__` by default. */
  readonly separator?: string;
  /** How long a client waits for one of several servers. */
  readonly patience?: Partial<Patience>;
  /** What a user says of clients, by the name that they give; over the built-in table. */
  readonly profiles?: Readonly<Record<string, ProfileEntry>>;
  /** The conversation that all of this gateway's clients belong to, where they do not name one themselves. */
  readonly session?: string;
  /** One line for a person. By default to stderr, with `earpiece: ` before it. */
  readonly report?: (line: string) => void;
};

export type ProfileEntry = Pick<Profile, 'kind'> & Partial<Pick<Profile, 'maxResultChars' | 'maxErrorChars'>>;

export type Front =
  | { readonly kind: 'stdio'; readonly input?: Readable; readonly output?: Writable }
  | ({ readonly kind: 'http' } & HttpFrontOptions);

export type Gateway = {
  /** Where clients reach it, with an HTTP front. */
  readonly url?: string;
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
  const [upstream, ...others] = upstreams;
  const twice = upstreams.find(({ name }, index) => upstreams.findIndex((other) => other.name === name) !== index);
  if (twice) throw new Error(`two servers are called "${twice.name}": their tools would have the same names`);
  const common = { rider, report, profile: fixedProfile(options.profile, options.profiles) };
  const make = (client: Client): Endpoint =>
    upstream !== undefined && others.length === 0
      ? new Session({ ...common, ...client, upstream, catalog: new Catalog() })
      : new Multiplex({
          ...common,
          ...client,
          upstreams,
          patience: { ...PATIENCE, ...options.patience },
          ...(options.separator !== undefined && { separator: options.separator }),
        });
  if (options.front.kind === 'stdio') return stdioGateway(options, options.front, make);
  return httpGateway(options.front, httpEndpoint(options, options.front, { rider, report, make }), report);
}

type Client = Parameters<MakeEndpoint>[0];

function stdioGateway(options: GatewayOptions, front: Front & { kind: 'stdio' }, make: MakeEndpoint): Gateway {
  const { promise: closed, resolve } = Promise.withResolvers<Closed>();
  const settling = new Settling();
  const parent = process.ppid;
  settling.hasDied = () => isOrphan(parent);
  let closing: Promise<void> | undefined;
  const close = (reason: Closed['reason'], detail: string, graceMs?: number): Promise<void> => {
    const stopped = endpoint.close(graceMs === undefined ? {} : { graceMs });
    closing ??= stopped.then(() => {
      client.close();
      return resolve({ reason, detail });
    });
    return closing;
  };
  const client = new StdioClient({ input: front.input ?? process.stdin, output: front.output ?? process.stdout }, settling, {
    frame: (frame) => endpoint.fromClient(frame),
    tooLong: (gone) => endpoint.clientFrameTooLong(gone),
    drain: () => endpoint.resume(),
    end: (why) => void close('client_ended', why, endpoint.busy ? BUSY_GRACE_MS : undefined),
  });
  const endpoint = make({
    key: 'stdio',
    settling,
    ...(options.session !== undefined && { session: options.session }),
    channel: {
      send: (out) => client.send(out),
      pause: () => client.pause(),
      resume: () => client.resume(),
      gone: (why) => void close('upstream_failed', why, 0),
    },
  });
  endpoint.start();
  client.start();
  return { closed, close: ({ now = false } = {}) => close('closed', 'close was called', now ? 0 : undefined) };
}

/** The kernel closes the pipes of a process that was killed some microseconds before its children get another parent. */
function isOrphan(parent: number): boolean {
  const waiting = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 0; tries < 10 && process.ppid === parent; tries++) Atomics.wait(waiting, 0, 0, 2);
  return process.ppid !== parent;
}

/** What HTTP clients talk to: one server behind HTTP is passed on as it is, everything else gets sessions. */
function httpEndpoint(
  options: GatewayOptions,
  front: Front & { kind: 'http' },
  { rider, report, make }: { readonly rider: GuardedRider; readonly report: (line: string) => void; readonly make: MakeEndpoint },
): HttpEndpoint {
  const [upstream, ...others] = options.upstreams;
  const named = options.session === undefined ? {} : { session: options.session };
  if (upstream?.kind !== 'http' || others.length > 0) return new HttpSessions((client) => make({ ...named, ...client }));
  return new HttpPassthrough({
    ...named,
    upstream,
    rider,
    report,
    profile: fixedProfile(options.profile, options.profiles),
    ownsAuthorization: front.token !== undefined,
  });
}

async function httpGateway(
  front: Front & { kind: 'http' },
  endpoint: HttpEndpoint,
  report: (line: string) => void,
): Promise<Gateway> {
  const { promise: closed, resolve } = Promise.withResolvers<Closed>();
  const server = new HttpFront(front, endpoint, report);
  const url = await server.listen();
  let closing: Promise<void> | undefined;
  const close = (how: { readonly now?: boolean } = {}): Promise<void> => {
    closing ??= server.close(how).then(() => resolve({ reason: 'closed', detail: 'close was called' }));
    return closing;
  };
  return { url, closed, close };
}

/** A profile that was asked for by name keeps the client's own limits. */
/** A kind given for all clients wins over what is said of one, and that over the table. */
export function fixedProfile(
  kind: ProfileKind | undefined,
  profiles: Readonly<Record<string, ProfileEntry>> = {},
): (client: ClientInfo | undefined) => Profile {
  return (client) => {
    const said = client !== undefined && Object.hasOwn(profiles, client.name) ? profiles[client.name] : undefined;
    const own = { ...profileOf(client), ...said };
    return kind === undefined ? own : { ...own, kind };
  };
}
