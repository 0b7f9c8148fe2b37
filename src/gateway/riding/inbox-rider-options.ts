/** What an inbox behind the gateway is made of. */
import type { Emitter } from '../../core/event.ts';
import type { ConversationOptions, Identity, Inbox } from '../../inbox/index.ts';
import type { Connection, OwnTool } from './rider.ts';
import type { Toolbox } from './toolbox.ts';

export type InboxRiderOptions = {
  readonly inbox: Inbox;
  /** Where it tells that a server has gone or is back. */
  readonly emitter?: Emitter | undefined;
  /** Whose conversation a connection is. */
  readonly identify: (connection: Connection) => Promise<Identity>;
  /** For presence: what carries, e.g. `gateway:stdio files`. */
  readonly carrier: string;
  readonly view?: ConversationOptions['view'];
  /** One process serves many clients (HTTP): that it lives does not mean that they do. */
  readonly shared?: boolean;
  /** The worktree of its one client. */
  readonly folder?: string;
  /** What the conversations are for: `task` for work, `chat` for talking. */
  readonly purpose?: string | undefined;
  /** The own tools, as the gateway lists them. */
  readonly tools?: () => readonly OwnTool[];
  /** More own tools. */
  readonly boxes?: readonly Toolbox[];
  /** Where trouble of ours is told, one line each. */
  readonly complain: (line: string) => void;
};
