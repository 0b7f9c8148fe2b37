import type { Draft } from '../../../core/records.ts';

/** A log, one more record, and the items after it. */
export type Effect = {
  readonly name: string;
  readonly given: readonly Draft[];
  readonly when: Draft;
  /** Items by id, or `id for audience`; or the conflict. */
  readonly becomes: Readonly<Record<string, unknown>> | { readonly conflict: Readonly<Record<string, string>> };
};
