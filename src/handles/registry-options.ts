/** What a registry of handles is made of. */
import type { Emitter } from '../core/event.ts';
import type { Clock, Ids } from '../core/ports.ts';
import type { Draft, Owner } from '../core/records.ts';
import type { HandleView } from './answers.ts';
import type { NoticeInbox } from './herald.ts';
import type { StatefulTool } from './stateful-tool.ts';

export type HandleRegistryOptions = HandleSettings & {
  /** Without it nothing is notified. */
  readonly inbox?: NoticeInbox;
  /** Where what happens to handles is told. Without it each of these events is queued as a notification. */
  readonly emitter?: Emitter;
  readonly ids?: Ids;
  readonly clock?: Clock;
  readonly owner?: Owner;
  /** Appends to the conversation's log: `handle_spawned`, `handle_state`, `handle_ended`, `inquiry_request`, `inquiry_response`. */
  readonly record?: (draft: Draft) => void | Promise<void>;
};

export type HandleSettings = {
  readonly tools: readonly StatefulTool[];
  /** The conversation that is told: `project/agent#conversation`. */
  readonly address: string;
  /** Of this conversation and nobody else: outputs, and the note of what runs. Mode 0700. */
  readonly folder: string;
  /** A handle began, changed or ended. */
  readonly onChange?: (view: HandleView) => void;
  /** What went wrong beside the handles (the inbox, the log). Default: a warning of the process. */
  readonly onTrouble?: (error: unknown) => void;
  /**
   * Withdraw what an answer tells before that answer is recorded. For hosts that do not hand `ToolOutcome.knows` to their
   * carrier; a crash in between then loses it. Default false.
   */
  readonly withdrawAtOnce?: boolean;
};
