/**
 * Keeps or releases the texts that the rider returned too late for their results. Usually, a late text is released, and the next
 * result gets a newly planned text. If two texts of a connection in a row are late, the second text is kept for the next result.
 * Without this class, an agent on a machine that exceeds the time limit for each text would never get a text.
 */
import type { Connection, ReleaseReason, Ride } from './rider.ts';

export type Late = Extract<Ride, { kind: 'ride' }>;
type Kept = { readonly ride: Late; readonly timer: NodeJS.Timeout };

export class LateRides {
  readonly #kept = new Map<Connection['key'], readonly Kept[]>();
  /** The connections whose last planned text was late. */
  readonly #slow = new Set<Connection['key']>();
  /** When each kept text is released (`performance.now()`). A text that is kept again keeps its time. */
  readonly #until = new WeakMap<Late, number>();

  /** Records that a text is late. Returns whether the connection's previous text was late too. */
  isLateAgain(key: Connection['key']): boolean {
    const again = this.#slow.has(key);
    this.#slow.add(key);
    return again;
  }

  /** Records that a newly planned text was in time. */
  inTime(key: Connection['key']): void {
    this.#slow.delete(key);
  }

  /**
   * Keeps a text for at most half of its lease, counted from `askedAt` (`performance.now()`). After the lease, a hook of the same
   * conversation could deliver the notifications too. Returns whether the text was kept.
   */
  keep(key: Connection['key'], ride: Late, askedAt: number): boolean {
    const until = this.#until.get(ride) ?? askedAt + (ride.leaseMs ?? 0) / 2;
    const leftMs = until - performance.now();
    if (leftMs <= 0) return false;
    const timer = setTimeout(() => {
      this.#drop(key, kept);
      ride.delivery.release('late');
    }, leftMs);
    timer.unref();
    const kept: Kept = { ride, timer };
    this.#until.set(ride, until);
    this.#kept.set(key, [...(this.#kept.get(key) ?? []), kept]);
    return true;
  }

  has(key: Connection['key']): boolean {
    return this.#kept.has(key);
  }

  /** Returns the oldest text of a connection. The caller delivers, releases or keeps the text. */
  take(key: Connection['key']): Late | undefined {
    const [first] = this.#kept.get(key) ?? [];
    if (first === undefined) return undefined;
    this.#drop(key, first);
    return first.ride;
  }

  releaseAll(key: Connection['key'], reason: ReleaseReason): void {
    for (let ride = this.take(key); ride !== undefined; ride = this.take(key)) ride.delivery.release(reason);
  }

  #drop(key: Connection['key'], kept: Kept): void {
    clearTimeout(kept.timer);
    const rest = (this.#kept.get(key) ?? []).filter((each) => each !== kept);
    if (rest.length === 0) this.#kept.delete(key);
    else this.#kept.set(key, rest);
  }
}
