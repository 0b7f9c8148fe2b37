/** Options of the rider that connects an inbox to the gateway. */
import type { Emitter } from '../../core/event.ts';
import type { ConversationOptions, Identity, Inbox } from '../../inbox/index.ts';
import type { Connection, OwnTool } from './rider.ts';
import type { Toolbox } from './toolbox.ts';

export type InboxRiderOptions = {
  readonly inbox: Inbox;
  /** Emits events when a server disconnects or reconnects. */
  readonly emitter?: Emitter | undefined;
  /** Finds the conversation of a connection. */
  readonly identify: (connection: Connection) => Promise<Identity>;
  /** The name of the carrier, for presence, such as `gateway:stdio files`. */
  readonly carrier: string;
  readonly view?: ConversationOptions['view'];
  /** Whether one process serves many clients (HTTP), and so may outlive them. */
  readonly shared?: boolean;
  /** The worktree of the client, if the gateway has only one client. */
  readonly folder?: string;
  /** The purpose of the conversations: `task` for work, `chat` for talking. */
  readonly purpose?: string | undefined;
  /** Returns the gateway's own tools, as tools/list shows them. */
  readonly tools?: () => readonly OwnTool[];
  /** Additional tools of the gateway. */
  readonly boxes?: readonly Toolbox[];
  /** Gets the problems of the rider, one line for each. */
  readonly complain: (line: string) => void;
};
