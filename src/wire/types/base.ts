/** Made of `../schemas/base.ts` by `node scripts/wire.ts --update`. */

/** An error as RFC 9457 defines it. `code` is for programs: an `ErrorCode`, or a code of the server. */
export type Problem = {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** The problem, the value seen, and what to do. */
  readonly detail: string;
  /** The stable error code, for programs. */
  readonly code: string;
  /** The name of this answer, which is also in the server's log. */
  readonly instance: string;
  /** For bad input: the invalid field (`level`, `deliver.at`). */
  readonly field?: string;
  readonly retryable?: boolean;
};

export type Counts = {
  readonly info: number;
  readonly warning: number;
  readonly error: number;
  readonly critical: number;
};
