import { agree } from '../../core/clocks.ts';
import type { CarrierId } from '../../core/records.ts';

/** The longest lease that the setting `lease.lasts` allows, in ms. */
const LONGEST_MS = 30_000;
/**
 * The maximum number of leases with implausible ends that are watched at a time. Beyond this number, the lease watched longest is
 * forgotten, and its 30 s begin again when this process sees the lease again.
 */
const WATCHED = 1_000;

/**
 * Decides when a lease has ended. The lease's end was computed from its owner's clock, which may be wrong. An end more than 30 s
 * ahead or more than a day ago counts as wrong. The lease then ends 30 s after this process first sees the lease. `mayLive`: the
 * owner is another process, and not known to be dead. For any other owner, such a lease ends at once.
 */
export class LeaseEnds {
  readonly #seen = new Map<CarrierId, number>();

  isOver(lease: { readonly carrier: CarrierId; readonly until: number; readonly mayLive: boolean }, now: number): boolean {
    const { carrier, until, mayLive } = lease;
    const plausible = until - now <= LONGEST_MS && agree(until, now);
    if (plausible || !mayLive) return until <= now || until - now > LONGEST_MS;
    const tick = performance.now();
    const first = this.#seen.get(carrier);
    if (first !== undefined) return tick - first > LONGEST_MS;
    if (this.#seen.size >= WATCHED) this.#seen.delete(this.#seen.keys().next().value ?? carrier);
    this.#seen.set(carrier, tick);
    return false;
  }
}
