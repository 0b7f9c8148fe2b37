/** The agent's knowledge of one file, the last event about it, and the result of a check against them. Pure. */
import type { Hash } from './look.ts';

/** The possible contents of a path. */
export type Content = Hash | 'absent';

/**
 * - `known`: the content that the agent read or wrote last, or that the first check of the globs found. Undefined: not yet
 *   checked.
 * - `state`: for a file in the globs at that time, without its content.
 * - `told`: the content in the last event. Undefined: no event since `known`.
 */
export type Knowledge = { readonly known?: Content; readonly state?: string; readonly told?: Content | undefined };

export type Judgement =
  /** No event; `known` is the new knowledge. */
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
