/** Compares a file's content with the content that the agent knows and with the last event about the file, without I/O. */
import type { Hash } from './look.ts';

/** The content of a path: its hash, or `absent` if there is no file. */
export type Content = Hash | 'absent';

/**
 * - `known`: the content that the agent read or wrote last, or that the first check of the globs found. `known` is undefined if
 *   the file was not checked yet.
 * - `state`: the size and time of a file that only the globs match, from the scan at the start until the first check.
 * - `told`: the content in the last event. `told` is undefined if there was no event since `known`.
 */
export type Knowledge = { readonly known?: Content; readonly state?: string; readonly told?: Content | undefined };

export type Judgement =
  /** No event is needed. `known` is the content that the agent now knows. */
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
