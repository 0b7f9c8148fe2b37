/**
 * Texts that the rider returned too late for their results. The connection's next result that has no newer text carries the
 * oldest late text. Without this class, an agent on a machine that exceeds the time limit for each text would never get a text.
 */
import type { Connection, ReleaseReason, Ride } from './rider.ts';

type Late = Extract<Ride, { kind: 'ride' }>;
type Kept = { readonly ride: Late; readonly timer: NodeJS.Timeout };

export class LateRides {
  readonly #kept = new Map<Connection['key'], readonly Kept[]>();

  /**
   * Keeps a text for at most half of its lease, counted from `askedAt` (`performance.now()`). After the lease, a hook of the same
   * conversation could deliver the notifications too. Returns whether the text was kept.
   */
  keep(key: Connection['key'], ride: Late, askedAt: number): boolean {
    const leftMs = askedAt + (ride.leaseMs ?? 0) / 2 - performance.now();
    if (leftMs <= 0) return false;
    const timer = setTimeout(() => {
      this.#drop(key, kept);
      ride.delivery.release('late');
    }, leftMs);
    timer.unref();
    const kept: Kept = { ride, timer };
    this.#kept.set(key, [...(this.#kept.get(key) ?? []), kept]);
    return true;
  }

  has(key: Connection['key']): boolean {
    return this.#kept.has(key);
  }

  /** Returns the oldest text of a connection, which the caller now delivers. */
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
