/** `earpiece/gateway`. The MCP gateway in your program: notifications ride on the results of the tools behind it. */
import '../node-version.ts';

import { inboxRider as innerRider, ownTools, type InboxRider } from '../gateway/riding/inbox-rider.ts';
import { VIEW_NAMES, type ViewName } from '../core/records.ts';
import { identify } from '../inbox/index.ts';
import { check, innerOf, type Earpiece, type Table } from '../library/index.ts';

export type InboxRiderOptions = {
  readonly earpiece: Earpiece;
  /** The agent behind each client: `coder`, `coder#c1`, `project/coder`. Default: called as the client calls itself. */
  readonly agent?: string;
  readonly view?: ViewName;
  /** A notification with a `purpose` goes only to conversations of that purpose. */
  readonly purpose?: string;
  /** The gateway serves several clients (`front: {kind: 'http'}`). */
  readonly shared?: boolean;
  /** Offers the tools for tasks, too. */
  readonly tasks?: boolean;
  /** One line for each thing that went wrong beside the calls. Default: to stderr. */
  readonly onTrouble?: (line: string) => void;
};

const RIDER: Table<InboxRiderOptions> = {
  earpiece: { needed: 'any' },
  agent: 'text',
  view: VIEW_NAMES,
  purpose: 'text',
  shared: 'flag',
  tasks: 'flag',
  onTrouble: 'any',
};

/** Delivers through a gateway: hand it to `startGateway`. `idle` resolves when everything that it began is written. */
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
    ...(view === undefined ? {} : { view }),
  });
}

export type { InboxRider };
export { startGateway } from '../gateway/index.ts';
export type { Closed, Front, Gateway, GatewayOptions, HttpUpstream, StdioUpstream, Upstream } from '../gateway/index.ts';
