import type { Draft } from '../../../core/records.ts';

/** A log, one more record, and the resulting items. */
export type Effect = {
  readonly name: string;
  readonly given: readonly Draft[];
  readonly when: Draft;
  /** The changed and new items by id, or by `id for audience`. For a refused record, the conflict. */
  readonly becomes: Readonly<Record<string, unknown>> | { readonly conflict: Readonly<Record<string, string>> };
};
