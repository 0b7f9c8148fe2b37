/** Options of the rider that puts an inbox behind the gateway. */
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
  /** The name of the contact point, for presence, such as `gateway:stdio files`. */
  readonly carrier: string;
  readonly view?: ConversationOptions['view'];
  /** One process serves many clients (HTTP): the process may outlive them. */
  readonly shared?: boolean;
  /** The worktree of its one client. */
  readonly folder?: string;
  /** The purpose of the conversations: `task` for work, `chat` for talking. */
  readonly purpose?: string | undefined;
  /** The own tools, as the gateway lists them. */
  readonly tools?: () => readonly OwnTool[];
  /** More own tools. */
  readonly boxes?: readonly Toolbox[];
  /** Called with problems of the rider, one line each. */
  readonly complain: (line: string) => void;
};
