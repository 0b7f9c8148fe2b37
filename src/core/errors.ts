/**
 * An error that the caller or the machine caused. `code` is stable and meant for programs. The message is meant for people: it
 * says what failed, which value was seen, and what to do. `retryable` says whether the same call may succeed later.
 */
export class EarpieceError extends Error {
  override readonly name = 'EarpieceError';
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { retryable?: boolean; data?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retryable = options.retryable ?? false;
    this.data = options.data ?? {};
  }
}

export type ErrorCode =
  | 'bad_address'
  | 'bad_notification'
  | 'bad_event'
  | 'bad_subscriber'
  | 'bad_config'
  | 'bad_argument'
  | 'not_found'
  | 'conflict'
  | 'nobody_there'
  | 'not_trusted'
  | 'store_unavailable'
  | 'store_refused'
  | 'store_corrupt'
  | 'store_full'
  | 'bad_frame'
  | 'upstream'
  | 'timeout';

/** The error message for a process whose program files were deleted or replaced by an upgrade. */
export const GONE = 'Earpiece was upgraded or removed while this process was running; restart the process';

/** Whether a dynamic import failed because the module's file no longer exists. */
export const isGone = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';

/** Finds the word of `known` that is closest to the typed word, for "did you mean". Undefined if no word is close. */
export function didYouMean(typed: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(typed.length / 3)) + 1;
  for (const word of known) {
    const distance = editDistance(typed.toLowerCase(), word.toLowerCase(), bestDistance);
    if (distance < bestDistance) [best, bestDistance] = [word, distance];
  }
  return best;
}

/**
 * Computes the Levenshtein distance with adjacent transpositions. If the lengths of `a` and `b` differ by `limit` or more,
 * returns `limit` without a computation.
 */
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let twoBack: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      let cell = Math.min((row[j - 1] ?? 0) + 1, (previous[j] ?? 0) + 1, (previous[j - 1] ?? 0) + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cell = Math.min(cell, (twoBack[j - 2] ?? 0) + 1);
      row[j] = cell;
    }
    twoBack = previous;
    previous = row;
  }
  return previous[b.length] ?? limit;
}

/** Returns a rejection handler that adds an error with the code `conflict` to `conflicts`, and rethrows any other error. */
export const keepConflict =
  (conflicts: EarpieceError[] = []) =>
  (error: unknown): undefined => {
    if (!(error instanceof EarpieceError) || error.code !== 'conflict') throw error;
    conflicts.push(error);
  };
