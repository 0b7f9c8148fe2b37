/** The options of a handle registry. */
import type { Emitter } from '../core/event.ts';
import type { Clock, Ids } from '../core/ports.ts';
import type { Draft, Owner } from '../core/records.ts';
import type { HandleView } from './answers.ts';
import type { NoticeInbox } from './herald.ts';
import type { StatefulTool } from './stateful-tool.ts';

export type HandleRegistryOptions = HandleSettings & {
  /** The inbox for notifications. Without an inbox, no notification is queued. */
  readonly inbox?: NoticeInbox;
  /** Emits the events of handles. Without an emitter, each event is queued as a notification. */
  readonly emitter?: Emitter;
  readonly ids?: Ids;
  readonly clock?: Clock;
  readonly owner?: Owner;
  /** Appends to the conversation's log: `handle_spawned`, `handle_state`, `handle_ended`, `inquiry_request`, `inquiry_response`. */
  readonly record?: (draft: Draft) => void | Promise<void>;
};

export type HandleSettings = {
  readonly tools: readonly StatefulTool[];
  /** The address of the conversation to notify: `project/agent#conversation`. */
  readonly address: string;
  /** A folder for this conversation alone, with mode 0700. The folder contains outputs and the ledger of handles. */
  readonly folder: string;
  /** Gets the new view of a handle each time that the handle begins, changes or ends. */
  readonly onChange?: (view: HandleView) => void;
  /** Reports an error that belongs to no handle, such as an error of the inbox or the log. Default: emits a process warning. */
  readonly onTrouble?: (error: unknown) => void;
  /**
   * Whether to withdraw a notification before the answer that reports the same change is recorded. Set this option for a host
   * that does not pass `ToolOutcome.knows` to its carrier. A crash between withdrawal and record then loses the notification.
   * Default false.
   */
  readonly withdrawAtOnce?: boolean;
};
