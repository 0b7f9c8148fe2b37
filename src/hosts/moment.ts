/**
 * The moments of a coding agent's work and Earpiece's answers, independent of the host. Each host has its own formats for both.
 */
import type { CarrierId, Owner } from '../core/records.ts';

/** The moments of an agent's work. A host that cannot detect one never sends it. */
export type Moment =
  /** A session begins or continues. `compacted`: its context was replaced, so the model no longer knows the mark. */
  | { readonly kind: 'session_start'; readonly compacted?: boolean }
  | { readonly kind: 'prompt' }
  /** The tool has not run yet: the answer may deny it. `carries`: nobody carries at the end of the batch. */
  | { readonly kind: 'before_tool'; readonly tool: string; readonly carries?: boolean }
  | { readonly kind: 'after_tool'; readonly tool: string }
  /** The model is asked now, with everything that it got before. */
  | { readonly kind: 'asked' }
  /** All tools of one model response have ended, and the model is asked next. */
  | { readonly kind: 'batch_end'; readonly tools: readonly string[] }
  /** The agent wants to end its turn. `held`: an earlier answer already held this turn. */
  | { readonly kind: 'turn_end'; readonly held: boolean }
  | { readonly kind: 'session_end' };

/** The session that reports a moment. */
export type Caller = {
  /** The host's own id of the session; it becomes the conversation's id. */
  readonly session: string;
  /** A sub-agent of that session: the gate applies to it, and it gets no notifications. */
  readonly subagent?: string;
  /** The folder that the session works in. */
  readonly folder: string;
  /** The process that runs the session, and other sessions too if the host has `manySessions`. */
  readonly process?: Owner;
  /** It runs in a tool or a hook of another agent. */
  readonly nested?: boolean;
  /** The file in which the host keeps the conversation. */
  readonly transcript?: string;
};

/** An instruction to the host. */
export type Answer =
  | { readonly kind: 'nothing' }
  /** The model reads this in addition to the message that it gets anyway. */
  | { readonly kind: 'tell'; readonly text: string }
  /** The tool does not run; the model reads this as its result. */
  | { readonly kind: 'deny'; readonly text: string }
  /** The turn does not end; the model reads this and continues. */
  | { readonly kind: 'hold'; readonly text: string };

/**
 * An answer, with functions that report what happened to it: call exactly one of the two. Both may reject, but only after the
 * answer was sent.
 */
export type Attended = {
  readonly answer: Answer;
  /** Identifies the lease, if the answer has one. */
  readonly carrier?: CarrierId;
  /** The host has the bytes. */
  confirm(): Promise<void>;
  /** The host did not get them. */
  release(): Promise<void>;
};
