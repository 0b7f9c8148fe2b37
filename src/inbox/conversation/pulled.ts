/** The contents of an answer of `get_notifications`. */
import type { Json } from '../../core/json.ts';

/** One notification as `get_notifications` shows it. The field names are part of the tool's public output. */
export type PulledNotification = {
  readonly id: string;
  /** `interrupt`, `message` (from a person or of the source `user`), else the kind as the model reads it. */
  readonly type: string;
  /** The agent that sent the notification with `tell_agent`, or `project/agent` if a command of this agent sent it. */
  readonly agent?: string;
  readonly action: string | null;
  readonly level: string;
  readonly message: string;
  readonly instruction: string | null;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  readonly task_id?: string;
  /** The data of the message: one value, or a list if notifications with different data were counted together. */
  readonly data?: Json;
  readonly count?: number;
  readonly from?: string;
  /** True if the notification may have been shown before, in another answer or in a frame. */
  readonly repeated?: true;
  /** When a pause ends, and how a person lifts the pause. Set only for a pause, which reading does not lift. */
  readonly holds?: string;
  /** The command that prints the whole texts. Set if the texts are cut, because the client would not show the whole texts. */
  readonly all_of_it?: string;
};

export type Contents = {
  readonly notifications: readonly PulledNotification[];
  readonly withheld: readonly { readonly tool: string; readonly at: string; readonly result: string }[];
};
