import { type ClientInfo } from '../mcp/frames/protocol.ts';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { defined } from '../core/defined.ts';

import { EarpieceError } from '../core/errors.ts';
import { ClientProcess } from './client-process.ts';
import { GuardedRider } from './riding/guarded.ts';
import type { HttpFrontOptions } from './http/front.ts';
import { linksTo } from '../mcp/links.ts';
import { profileOf, type Profile, type ProfileKind } from './riding/profiles.ts';
import type { Rider } from './riding/rider.ts';
import { Session, type MakeEndpoint } from './session.ts';
import { Settling } from './riding/settling.ts';
import type { Patience } from './several/starting.ts';
import { StdioClient } from './stdio.ts';
import { Catalog } from './riding/tools.ts';
import type { Upstream } from '../mcp/upstream.ts';

export type GatewayOptions = {
  readonly front: Front;
  /**
   * A single server is wrapped: the client sees that server, with the additions of the rider. Several servers, or one server with
   * `isPrefixed`, are presented as one server with prefixed names. Without servers, the gateway is itself a server with the tools
   * of its rider.
   */
  readonly upstreams: readonly Upstream[];
  readonly rider: Rider;
  /** The profile kind of every client. By default, the client's name decides. */
  readonly profile?: ProfileKind;
  /** Whether the names of tools have the prefix of their server even if there is only one server. */
  readonly isPrefixed?: boolean;
  /** The separator between a server's name and its tool's name, if tools have the prefix of their server. `__` by default. */
  readonly separator?: string;
  /** How long a client waits for each of several servers. */
  readonly patience?: Partial<Patience>;
  /** The user's profiles, by client name. These profiles override the built-in profiles. */
  readonly profiles?: Readonly<Record<string, ProfileEntry>>;
  /** The conversation of a client that names no conversation. */
  readonly session?: string;
  /**
   * The gateway calls `report` with one line for a person at each problem and each recovery. Default: prints the line on stderr
   * after `earpiece: `.
   */
  readonly report?: (line: string) => void;
};

export type ProfileEntry = Pick<Profile, 'kind'> & Partial<Pick<Profile, 'maxResultChars' | 'maxErrorChars'>>;

export type Front =
  | { readonly kind: 'stdio'; readonly input?: Readable; readonly output?: Writable }
  | ({ readonly kind: 'http' } & HttpFrontOptions);

export type Gateway = {
  /** The URL for clients. Set if the front is HTTP. */
  readonly url?: string;
  /** Resolves with the reason when the gateway and the processes of its servers have ended. */
  readonly closed: Promise<Closed>;
  /** Ends the gateway. With `now`, as after a signal, servers get no time to end by themselves. */
  close(options?: { readonly now?: boolean }): Promise<void>;
};

export type Closed = { readonly reason: 'client_ended' | 'upstream_failed' | 'closed'; readonly detail: string };

/**
 * How long a server may continue after its client disconnects during an open request. The time is short, because some clients
 * kill the gateway after 2 or 3 s. After that, nothing would end a server that ignores the end of its stdin.
 */
const BUSY_GRACE_MS = 1_200;

/** How much of `BUSY_GRACE_MS` passes before the server's stdin ends. In the remaining time, the server may end by itself. */
const BUSY_MS = 900;

/**
 * How long the gateway still passes on received requests after the client has ended its input. A server that `npx` starts may
 * need several seconds until it reads its first request.
 */
const HOLDING_MS = 10_000;

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { front, upstreams } = options;
  const report = options.report ?? ((line: string) => process.stderr.write(`earpiece: ${line}\n`));
  const rider = new GuardedRider(options.rider, report);
  const twice = upstreams.find(({ name }, index) => upstreams.findIndex((other) => other.name === name) !== index);
  if (twice)
    throw new EarpieceError(
      'bad_argument',
      `two servers are called ${JSON.stringify(twice.name)}: rename one of them, because tool names begin with the server's name`,
    );
  const common = { rider, report, profile: fixedProfile(options.profile, options.profiles) };
  const make = await endpointsOf(options, common);
  if (front.kind === 'stdio') return stdioGateway(options, front, make);
  const { httpGateway } = await import('./http/gateway.ts');
  return httpGateway(options, front, { ...common, make });
}

/**
 * Returns the function that makes the endpoint of a client. Only the modules that this gateway needs are loaded, because each
 * stdio client starts a gateway process.
 */
async function endpointsOf(
  { upstreams, patience, separator, isPrefixed = false }: GatewayOptions,
  common: { readonly rider: GuardedRider; readonly report: (line: string) => void; readonly profile: ProfileFor },
): Promise<MakeEndpoint> {
  const link = await linksTo(upstreams);
  const [upstream, ...others] = upstreams;
  if (upstream !== undefined && others.length === 0 && !isPrefixed)
    return (client) => new Session({ ...common, ...client, upstream, link, catalog: new Catalog() });
  const { Multiplex } = await import('./multiplex.ts');
  return (client) =>
    new Multiplex({
      ...common,
      ...client,
      upstreams,
      link,
      ...(patience !== undefined && { patience }),
      ...(separator !== undefined && { separator }),
    });
}

function stdioGateway(options: GatewayOptions, front: Front & { kind: 'stdio' }, make: MakeEndpoint): Gateway {
  const { promise: closed, resolve } = Promise.withResolvers<Closed>();
  const settling = new Settling();
  const clientProcess = new ClientProcess();
  settling.hasDied = () => clientProcess.hasJustDied();
  let closing: Promise<void> | undefined;
  const close = (reason: Closed['reason'], detail: string, graceMs?: number): Promise<void> => {
    const stopped = endpoint.close(defined({ graceMs }));
    closing ??= stopped.then(() => {
      client.close();
      return resolve({ reason, detail });
    });
    return closing;
  };
  /** Answers the requests from before the client ended its input, as a server without a gateway does. Then ends the gateway. */
  const end = async (why: string): Promise<void> => {
    settling.clientEnded();
    endpoint.clientEnded();
    const during = async (ms: number, isGoing: () => boolean): Promise<number> => {
      const beganAt = performance.now();
      const tookMs = (): number => performance.now() - beganAt;
      const mayRead = (): boolean => client.reads && !clientProcess.hasDied && closing === undefined;
      while (isGoing() && mayRead() && tookMs() < ms) await sleep(10);
      return tookMs();
    };
    await during(HOLDING_MS, () => endpoint.holding);
    const busyMs = await during(BUSY_MS, () => endpoint.holding || endpoint.busy);
    await close('client_ended', why, endpoint.busy ? BUSY_GRACE_MS - busyMs : undefined);
  };
  const client = new StdioClient({ input: front.input ?? process.stdin, output: front.output ?? process.stdout }, settling, {
    frame: (frame) => endpoint.fromClient(frame),
    tooLong: (frame) => endpoint.clientFrameTooLong(frame),
    drain: () => endpoint.resume(),
    end: (why) => void end(why),
  });
  const endpoint = make({
    key: 'stdio',
    settling,
    ...(options.session !== undefined && { session: options.session }),
    channel: {
      send: (out) => client.send(out),
      pause: () => client.pause(),
      resume: () => client.resume(),
      ended: (why) => void close('upstream_failed', why, 0),
    },
  });
  endpoint.start();
  client.start();
  return { closed, close: ({ now = false } = {}) => close('closed', 'close was called', now ? 0 : undefined) };
}

type ProfileFor = (client: ClientInfo | undefined) => Profile;

/**
 * Returns the function that finds the profile of a client. The user's profile for the client overrides the built-in profile.
 * `kind` overrides only the kind of that profile, not its limits.
 */
function fixedProfile(kind: ProfileKind | undefined, profiles: Readonly<Record<string, ProfileEntry>> = {}): ProfileFor {
  return (client) => {
    const said = client !== undefined && Object.hasOwn(profiles, client.name) ? profiles[client.name] : undefined;
    const own = { ...profileOf(client), ...said };
    return kind === undefined ? own : { ...own, kind };
  };
}
