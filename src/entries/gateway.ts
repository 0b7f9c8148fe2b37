/** `earpiece/gateway`: the MCP gateway in your program. Notifications arrive with the results of the servers' tools. */
import '../node-version.ts';

import { startGateway as start, type Gateway, type GatewayOptions } from '../gateway/index.ts';
import { inboxRider as innerRider, ownTools, type InboxRider } from '../gateway/riding/inbox-rider.ts';
import { PROFILE_KINDS } from '../config/servers.ts';
import { defined } from '../core/defined.ts';
import { VIEW_NAMES, type ViewName } from '../core/records.ts';
import { identify } from '../inbox/index.ts';
import { bad, check, innerOf, type Earpiece, type Table } from '../library/index.ts';

export type InboxRiderOptions = {
  readonly earpiece: Earpiece;
  /**
   * The agent of each client: `coder`, `coder#c1` or `project/coder`. By default, the name of the host that runs the client,
   * otherwise the client's own name.
   */
  readonly agent?: string;
  readonly view?: ViewName;
  /** The purpose of the clients' conversations. A conversation with a purpose gets no notification of another purpose. */
  readonly purpose?: string;
  /** Whether the gateway serves several clients (`front: {kind: 'http'}`). */
  readonly shared?: boolean;
  /** Whether to offer the tools for tasks. */
  readonly tasks?: boolean;
  /** Called with one line for each problem outside of the calls. By default, prints the line to stderr. */
  readonly onTrouble?: (line: string) => void;
};

const RIDER: Table<InboxRiderOptions> = {
  earpiece: { needed: 'any' },
  agent: 'name',
  view: VIEW_NAMES,
  purpose: 'text',
  shared: 'flag',
  tasks: 'flag',
  onTrouble: 'function',
};
const PROFILE = { kind: { needed: PROFILE_KINDS }, maxResultChars: 'amount', maxErrorChars: 'amount' } as const;
const GATEWAY: Table<GatewayOptions> = {
  front: {
    needed: {
      kinds: {
        stdio: { input: 'object', output: 'object' },
        http: { host: 'name', port: 'port', path: 'name', token: 'name', allowedHosts: { listOf: 'name' } },
      },
    },
  },
  upstreams: {
    needed: {
      listOf: {
        kinds: {
          stdio: {
            name: { needed: 'name' },
            command: { needed: 'name' },
            args: { listOf: 'text' },
            env: { each: 'text' },
            cwd: 'name',
            running: 'object',
          },
          http: { name: { needed: 'name' }, url: { needed: 'url' }, headers: { each: 'text' } },
          absent: { name: { needed: 'name' }, why: { needed: 'text' } },
        },
      },
    },
  },
  rider: {
    needed: {
      methods: ['tools', 'callTool', 'before', 'after', 'opened', 'closed', 'upstream'],
      like: 'what inboxRider() returns',
    },
  },
  profile: PROFILE_KINDS,
  isPrefixed: 'flag',
  separator: 'name',
  patience: {
    keys: {
      probeMs: 'amount',
      discoverMs: 'amount',
      graceMs: 'amount',
      onceMs: 'amount',
      othersMs: 'amount',
      hangsMs: 'amount',
      callMs: 'amount',
      listMs: 'amount',
    },
  },
  profiles: { each: { keys: PROFILE } },
  session: 'name',
  report: 'function',
};

/** Starts a gateway, and resolves when it serves. Throws `bad_argument` for invalid options, and for a port in use. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  check('startGateway', options, GATEWAY);
  const { front } = options;
  if (front.kind === 'http' && front.path?.startsWith('/') === false)
    throw bad(`startGateway: front.path must begin with "/", got ${JSON.stringify(front.path.slice(0, 80))}`, 'front.path');
  return start(options);
}

/**
 * Makes the rider that delivers notifications through a gateway. Pass the rider to `startGateway`. The `idle` of the rider
 * resolves when all writes are done.
 */
export function inboxRider(options: InboxRiderOptions): InboxRider {
  check('inboxRider', options, RIDER);
  const { earpiece, agent, view, purpose, shared = false, tasks = false } = options;
  const inbox = innerOf(earpiece);
  const tools = ownTools({ tasks });
  return innerRider({
    inbox,
    emitter: inbox.bus,
    identify: (connection) =>
      identify(
        {
          project: earpiece.project,
          env: { ...process.env, EARPIECE_ADDRESS: undefined },
          given: connection.session ?? agent,
          client: connection.client?.name,
          lookAtAncestors: !shared,
        },
        inbox.store,
      ),
    carrier: `gateway:${shared ? 'http' : 'stdio'}`,
    tools: () => tools,
    purpose,
    complain: options.onTrouble ?? ((line) => process.stderr.write(`earpiece: ${line}\n`)),
    ...(shared ? { shared } : {}),
    ...defined({ view }),
  });
}

export type { InboxRider };
export type { Gateway, GatewayOptions };
export type { Closed, Front, HttpUpstream, StdioUpstream, Upstream } from '../gateway/index.ts';
