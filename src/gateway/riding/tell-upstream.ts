import { makeEvent, notificationFrom, type Emitter, type EventInput } from '../../core/event.ts';
import type { Conversation, Inbox } from '../../inbox/index.ts';
import type { LogKey } from '../../core/address.ts';
import type { Item } from '../../core/item.ts';
import type { UpstreamEvent } from './rider.ts';

/** The number of an agent's newest items that are searched. */
const SEARCHED = 500;

/**
 * Returns this agent's newest notification about each MCP server, by the server's name. Such a notification reports that the
 * server disconnected or reconnected.
 */
export async function saidOfServers({ store }: Inbox, log: LogKey): Promise<ReadonlyMap<string, Item>> {
  const newest = new Map<string, Item>();
  for (const item of await store.items(log, { kind: 'latest', limit: SEARCHED })) {
    const { kind, key } = item.notification;
    if (kind.source !== 'mcp' || (kind.name !== 'disconnected' && kind.name !== 'reconnected')) continue;
    const server = key?.startsWith('mcp:') ? key.slice('mcp:'.length) : undefined;
    if (server !== undefined && !newest.has(server)) newest.set(server, item);
  }
  return newest;
}

export const isFailure = ({ notification, outcome }: Item): boolean =>
  notification.kind.name === 'disconnected' && outcome !== 'withdrawn';

/**
 * Notifies the agent that a server works, if the newest notification about this server reports a failure. Otherwise writes
 * nothing.
 */
export async function tellWorks(
  deps: Parameters<typeof tellUpstream>[0],
  conversation: Conversation,
  server: string,
): Promise<void> {
  const said = (await saidOfServers(deps.inbox, conversation.log)).get(server);
  if (said !== undefined && isFailure(said))
    await tellUpstream(deps, conversation, { server, state: 'started', detail: 'it answers' });
}

/**
 * Notifies the agent about the state of a server, or about the instructions of a late server. With an emitter, emits an event
 * about the state. Without an emitter, queues the notification, and withdraws the conversation's open notification when the
 * server works again.
 */
export async function tellUpstream(
  { inbox, emitter }: { readonly inbox: Inbox; readonly emitter?: Emitter | undefined },
  conversation: Conversation,
  event: UpstreamEvent,
): Promise<void> {
  const { server, detail, state } = event;
  if (state === 'introduced') return tellInstructions(inbox, conversation, event);
  const back = state === 'reconnected' || state === 'started';
  const input: EventInput = {
    type: back ? 'mcp.reconnected' : 'mcp.disconnected',
    source: 'mcp',
    subject: conversation.address,
    severity: back ? 'info' : 'error',
    message: upstreamMessage(event),
    data: { server, ...(detail ? { detail } : {}) },
    key: `mcp:${server}`,
    supersede: true,
  };
  if (emitter !== undefined) return void (await emitter.emit(input));
  const made = makeEvent(input, { id: inbox.ids.make('e'), now: inbox.store.now() });
  if (back) await takeBack(inbox, conversation, server);
  await inbox.queue(conversation.address, notificationFrom(made));
}

/** The maximum number of characters of one server's instructions. */
const INSTRUCTIONS_CHARS = 2_000;

/**
 * Sends a late server's instructions to this conversation only, because other conversations may have the instructions from their
 * handshake.
 */
async function tellInstructions(inbox: Inbox, conversation: Conversation, event: UpstreamEvent): Promise<void> {
  await inbox.queue(conversation.address, {
    kind: 'mcp.instructions',
    message: upstreamMessage(event),
    key: `mcp-instructions:${event.server}`,
    supersede: true,
  });
}

/**
 * Withdraws the notification about a server for this conversation only, because another conversation's server process may still
 * be down.
 */
async function takeBack(inbox: Inbox, { log, id }: Conversation, server: string): Promise<void> {
  for (const item of await inbox.pending(log, `mcp:${server}`))
    if (item.audience === id) await inbox.withdraw(log, { id: item.id }, { by: 'mcp', reason: `${server} is connected again` });
}

function upstreamMessage({ server, state, detail }: UpstreamEvent): string {
  switch (state) {
    case 'disconnected':
      return `MCP server \`${server}\` has disconnected${detail ? `: ${detail}` : ''}`;
    case 'failed':
      return `MCP server \`${server}\` does not work${detail ? `: ${detail}` : ''}`;
    case 'reconnected':
      return `MCP server \`${server}\` is connected again${detail ? ` (${detail})` : ''}, and has lost its state`;
    case 'started':
      return `MCP server \`${server}\` works now${detail ? `: ${detail}` : ''}`;
    case 'introduced':
      return `MCP server \`${server}\` started late. The server's description of itself, not written by the user: ${shortened(detail)}`;
    default:
      return state satisfies never;
  }
}

const shortened = (text: string): string =>
  text.length <= INSTRUCTIONS_CHARS ? text : `${text.slice(0, INSTRUCTIONS_CHARS - 1).toWellFormed()}…`;
