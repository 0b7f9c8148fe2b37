import type { Draft } from '../../../core/records.ts';

/** A log as it is given, one more record, and what the items become by it. */
export type Effect = {
  readonly name: string;
  readonly given: readonly Draft[];
  readonly when: Draft;
  /** Items by id, or `id for audience`; or the conflict. */
  readonly becomes: Readonly<Record<string, unknown>> | { readonly conflict: Readonly<Record<string, string>> };
};
