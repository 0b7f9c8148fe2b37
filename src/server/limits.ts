/**
 * Limits the rate of requests with buckets that fill at a constant rate. Each token has a bucket. Each IP address has a bucket
 * for requests without a token, and a bucket for failures.
 */

export type Rate = { readonly perSecond: number; readonly burst: number };

export type Rates = {
  /** The rate of one token that is not send-only, or of one session of such a token. */
  readonly token: Rate;
  readonly sendToken: Rate;
  /** The rate of requests without a token from one IP address. */
  readonly anonymous: Rate;
  /** The rate of wrong tokens and codes from one IP address. */
  readonly failures: Rate;
};

export const DEFAULT_RATES: Rates = {
  token: { perSecond: 500, burst: 3_000 },
  sendToken: { perSecond: 50, burst: 500 },
  anonymous: { perSecond: 50, burst: 500 },
  failures: { perSecond: 0.2, burst: 10 },
};

/** The maximum number of buckets. Above this number, full buckets are dropped first. */
const MAX_BUCKETS = 10_000;

export class Buckets {
  readonly #rate: Rate;
  readonly #now: () => number;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  /** `now` returns a time in ms that never decreases, such as `performance.now`. */
  constructor(rate: Rate, now: () => number = () => performance.now()) {
    this.#rate = rate;
    this.#now = now;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Takes one request from the bucket. Returns the seconds to wait if the bucket is empty. */
  take(caller: string): number | undefined {
    const bucket = this.#bucket(caller);
    if (bucket.left < 1) return Math.max(1, Math.ceil((1 - bucket.left) / this.#rate.perSecond));
    bucket.left -= 1;
    return undefined;
  }

  #bucket(caller: string): { left: number; at: number } {
    const now = this.#now();
    const { perSecond, burst } = this.#rate;
    const known = this.#buckets.get(caller);
    if (known === undefined) {
      if (this.#buckets.size >= MAX_BUCKETS) this.#forget(now);
      const fresh = { left: burst, at: now };
      this.#buckets.set(caller, fresh);
      return fresh;
    }
    known.left = Math.min(burst, known.left + ((now - known.at) / 1000) * perSecond);
    known.at = now;
    return known;
  }

  #forget(now: number): void {
    const { perSecond, burst } = this.#rate;
    for (const [caller, { left, at }] of this.#buckets)
      if (left + ((now - at) / 1000) * perSecond >= burst) this.#buckets.delete(caller);
    // If too many buckets remain, the oldest buckets are dropped.
    for (const caller of this.#buckets.keys()) {
      if (this.#buckets.size < MAX_BUCKETS) return;
      this.#buckets.delete(caller);
    }
  }
}
