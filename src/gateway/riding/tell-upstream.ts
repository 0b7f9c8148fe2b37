import { makeEvent, notificationFrom, type Emitter, type EventInput } from '../../core/event.ts';
import type { Conversation, Inbox } from '../../inbox/index.ts';
import type { UpstreamEvent } from './rider.ts';

/** That a server has gone, taken back when it is there again. Without an emitter one event is one notification. */
export async function tellUpstream(
  { inbox, emitter }: { readonly inbox: Inbox; readonly emitter?: Emitter | undefined },
  conversation: Conversation,
  event: UpstreamEvent,
): Promise<void> {
  const { server, detail, state } = event;
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
  if (back) await inbox.withdraw(conversation.log, { key: `mcp:${server}` }, { by: 'mcp', reason: `${server} is back` });
  await inbox.queue(conversation.address, notificationFrom(made));
}

function upstreamMessage({ server, state, detail }: UpstreamEvent): string {
  switch (state) {
    case 'disconnected':
      return `MCP server \`${server}\` has disconnected${detail ? `: ${detail}` : ''}`;
    case 'failed':
      return `MCP server \`${server}\` does not work${detail ? `: ${detail}` : ''}`;
    case 'reconnected':
      return `MCP server \`${server}\` is connected again${detail ? ` (${detail})` : ''}; what it kept in memory is gone`;
    case 'started':
      return `MCP server \`${server}\` works now${detail ? `: ${detail}` : ''}`;
    default:
      return state satisfies never;
  }
}
