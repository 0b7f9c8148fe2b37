/** What the agent knows of one file, what it was told of it, and what a look at it now makes of that. Pure. */
import type { Hash } from './look.ts';

/** What may stand at a path. */
export type Content = Hash | 'absent';

/**
 * - `known`: what the agent read or wrote last, or what stood there when the globs were first looked at. Undefined: not yet
 *   looked at.
 * - `state`: of a file in the globs at that time, without its content.
 * - `told`: what the last event said that stands there now. Undefined: nothing since it is known.
 */
export type Knowledge = { readonly known?: Content; readonly state?: string; readonly told?: Content | undefined };

export type Judgement =
  /** Nothing to say; `known` is what is known now. */
  | { readonly kind: 'same'; readonly known: Content }
  | { readonly kind: 'again' }
  | { readonly kind: 'restored' }
  | { readonly kind: 'changed' | 'deleted' | 'created'; readonly previous?: Hash };

export function judge({ known, state, told }: Knowledge, now: Content, stateNow: string | undefined): Judgement {
  if (known === now || (known === undefined && state === stateNow))
    return told === undefined ? { kind: 'same', known: now } : { kind: 'restored' };
  if (told === now) return { kind: 'again' };
  const previous = known === undefined || known === 'absent' ? {} : { previous: known };
  if (now === 'absent') return { kind: 'deleted', ...previous };
  return { kind: known === 'absent' ? 'created' : 'changed', ...previous };
}
