/** Finds the inbox of an `Earpiece`, for the parts of this package that a program combines with it. */
import { EarpieceError } from '../core/errors.ts';
import type { LoadedInbox } from '../loaded-inbox.ts';
import { bad, isPromise } from './arguments.ts';

const INBOXES = new WeakMap<object, LoadedInbox>();

export const keepInner = (ear: object, inbox: LoadedInbox): void => void INBOXES.set(ear, inbox);

const CLOSED = new WeakSet<object>();

export const closeInner = (inbox: object): void => void CLOSED.add(inbox);

/** Throws `store_unavailable` after `close`. */
export function mustBeOpen(inbox: object): void {
  if (CLOSED.has(inbox))
    throw new EarpieceError('store_unavailable', 'this Earpiece is closed: call openEarpiece() again', { retryable: false });
}

/** Returns the inbox of an `Earpiece`. Throws `bad_argument` for an object that this package's `openEarpiece` did not make. */
export function innerOf(ear: object): LoadedInbox {
  const inbox = typeof ear === 'object' && ear !== null ? INBOXES.get(ear) : undefined;
  if (isPromise(ear)) throw bad('earpiece is a promise; await openEarpiece()', 'earpiece');
  if (inbox === undefined)
    throw bad('earpiece must be the result of openEarpiece() of this package; is the package installed twice?', 'earpiece');
  return inbox;
}
