/** Defines the messages between the thread that owns a database and the thread that calls it. */
import { EarpieceError, type ErrorCode } from '../../core/errors.ts';
import type { ConversationId, LogKey } from '../../core/address.ts';
import type { Swap } from '../../core/ports.ts';
import type { Placed } from '../placing.ts';
import type { SqliteStore } from '../sqlite/store.ts';

/** The methods that a caller invokes by name. */
export type Method = Exclude<
  keyof SqliteStore,
  'name' | 'path' | 'lastAt' | 'private' | 'now' | 'ordered' | 'quiet' | 'close' | 'append'
>;

export type Setup = {
  readonly path: string;
  readonly busyMs: number | undefined;
  /** The time of the calling thread's clock. Undefined for the system clock. With any other clock, each message has the time. */
  readonly now: number | undefined;
  /** Two numbers: the number of the last answered `quiet` question, and the answer (1 if quiet). */
  readonly quiet: SharedArrayBuffer;
  readonly fault: string | undefined;
};

export type Ask = { readonly now?: number } & (
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly method: Method;
      readonly args: readonly unknown[];
      readonly options: Readonly<Record<string, unknown>>;
      readonly progress?: true;
    }
  /** `texts`: the drafts as JSON, in their stored form, because copying a text takes a fifth of the time of copying objects. */
  | {
      readonly kind: 'append';
      readonly id: number;
      readonly log: LogKey;
      readonly texts: readonly string[];
      readonly options: { readonly withinMs?: number; readonly swaps?: readonly Swap[] } | undefined;
      /** Whether the caller may cancel the append. */
      readonly cancel?: true;
    }
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'quiet'; readonly n: number; readonly log: LogKey; readonly conversation: ConversationId }
  | { readonly kind: 'close' }
);

/**
 * An answer. `lastAt`: the newest time in the store that the thread has seen. Questions and answers are sent in lists, because
 * each message wakes a thread.
 */
export type Answer =
  | { readonly kind: 'ready'; readonly name: string; readonly path: string; readonly lastAt: number }
  | { readonly kind: 'refused'; readonly error: Failure }
  | { readonly kind: 'done'; readonly id: number; readonly result: unknown; readonly lastAt: number }
  | PlacedAnswer
  | { readonly kind: 'failed'; readonly id: number; readonly error: Failure }
  | { readonly kind: 'progress'; readonly id: number; readonly done: number; readonly of: number }
  | { readonly kind: 'report'; readonly line: string };

/** The result of an append. `items`: the items as JSON, or undefined if the caller can compute the items from the drafts. */
export type PlacedAnswer = Pick<Placed, 'kind' | 'seq' | 'at'> & {
  readonly id: number;
  readonly clock: number | undefined;
  readonly items: string | undefined;
  readonly lastAt: number;
};

/** The fields of an error. A message cannot transport the error's class. */
export type Failure = {
  readonly message: string;
  readonly name: string;
  readonly stack: string | undefined;
  readonly earpiece?: { readonly code: ErrorCode; readonly retryable: boolean; readonly data: Record<string, unknown> };
};

export function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error), name: 'Error', stack: undefined };
  const { message, name, stack } = error;
  if (!(error instanceof EarpieceError)) return { message, name, stack };
  const { code, retryable, data } = error;
  return { message, name, stack, earpiece: { code, retryable, data: { ...data } } };
}

export function errorOf({ message, name, stack, earpiece }: Failure): Error {
  if (earpiece !== undefined) return new EarpieceError(earpiece.code, message, earpiece);
  const error = name === 'TypeError' ? new TypeError(message) : new Error(message);
  error.name = name;
  if (stack !== undefined) error.stack = stack;
  return error;
}
