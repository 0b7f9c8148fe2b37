/**
 * Defines the moments of a coding agent's work and Earpiece's answers, independent of the host. Each host has its own formats for
 * both.
 */
import type { CarrierId, Owner } from '../core/records.ts';
import type { CallResult } from '../inbox/index.ts';

/** A moment of an agent's work. A host does not report moments that it cannot detect. */
export type Moment =
  /**
   * A session begins or continues. `compacted`: the session's context was replaced, so the model no longer knows the mark.
   * `resumed`: a terminal continues an older session.
   */
  | { readonly kind: 'session_start'; readonly compacted?: boolean; readonly resumed?: true }
  | { readonly kind: 'prompt' }
  /**
   * A tool has not run yet, so the answer may deny the call. `carries`: this moment carries notifications, because no carrier
   * follows at the end of the batch. `call`: the host's id of the call.
   */
  | { readonly kind: 'before_tool'; readonly tool: string; readonly carries?: boolean; readonly call?: string }
  /** A tool has ended. `takesNoText`: the host drops the text of an answer to this moment. */
  | {
      readonly kind: 'after_tool';
      readonly tool: string;
      readonly takesNoText?: boolean;
      readonly results?: readonly CallResult[];
    }
  /** The host sends a request to the model now, with everything in the session so far. */
  | { readonly kind: 'asked' }
  /** All tools of one model response have ended, and a request to the model follows. */
  | { readonly kind: 'batch_end'; readonly tools: readonly string[]; readonly results?: readonly CallResult[] }
  /**
   * The agent wants to end its turn. `held`: an earlier answer already held this turn. Missing if the host reports each prompt, but
   * not whether the turn was held.
   */
  | { readonly kind: 'turn_end'; readonly held?: boolean }
  | { readonly kind: 'session_end' };

/** The session that reports a moment. */
export type Caller = {
  /** The host's own id of the session. This id becomes the conversation's id. */
  readonly session: string;
  /** A sub-agent of that session. The gate applies to a sub-agent, but a sub-agent gets no notifications. */
  readonly subagent?: string;
  /** The folder in which the session works. */
  readonly folder: string;
  /** The process that runs the session. If the host has `manySessions`, the process also runs other sessions. */
  readonly process?: Owner;
  /** Set if `process` does not identify the session, because the process may show other sessions too. */
  readonly shared?: boolean;
  /** Whether the session runs in a tool or a hook of another agent. */
  readonly nested?: boolean;
  /** The file in which the host keeps the conversation. */
  readonly transcript?: string;
};

/** An instruction to the host. */
export type Answer =
  | { readonly kind: 'nothing' }
  /** The model reads the text with the next message that the host sends to the model. The text of a wake begins a turn. */
  | { readonly kind: 'tell'; readonly text: string }
  /** The tool does not run, and the model reads the text as its result. */
  | { readonly kind: 'deny'; readonly text: string }
  /** The turn does not end. The model reads the text and continues. */
  | { readonly kind: 'hold'; readonly text: string };

/**
 * An answer, with the functions that settle its delivery. Call exactly one of `confirm` and `release`, after the answer was sent
 * or could not be sent. Both may reject.
 */
export type Attended = {
  readonly answer: Answer;
  /** The id of the lease, if the answer has one. */
  readonly carrier?: CarrierId;
  /** Confirms that the host has the bytes. */
  confirm(): Promise<void>;
  /** Releases the notifications, because the host did not get the bytes. */
  release(): Promise<void>;
  /**
   * Opens the notifications again because the host has dropped the bytes, even after `confirm`. Missing if the answer has no
   * lease or wakes the agent.
   */
  reopen?(): Promise<void>;
};
