import { agree } from '../../core/clocks.ts';
import type { CarrierId } from '../../core/records.ts';

/** No lease lasts longer, whatever `lease.lasts` says. */
const LONGEST_MS = 30_000;
/** Leases of other clocks that are watched at the same time. Beyond that the oldest is forgotten and starts again. */
const WATCHED = 1_000;

/**
 * When a lease ends. The end was computed from its owner's clock. If that clock and this one disagree, a living owner has 30
 * seconds from the time when this process first sees its lease. `othersAlive`: its owner is another process, and lives.
 */
export class LeaseEnds {
  readonly #seen = new Map<CarrierId, number>();

  isOver(lease: { readonly carrier: CarrierId; readonly until: number; readonly othersAlive: boolean }, now: number): boolean {
    const { carrier, until, othersAlive } = lease;
    const plausible = until - now <= LONGEST_MS && agree(until, now);
    if (plausible || !othersAlive) return until <= now || until - now > LONGEST_MS;
    const tick = performance.now();
    const first = this.#seen.get(carrier);
    if (first !== undefined) return tick - first > LONGEST_MS;
    if (this.#seen.size >= WATCHED) this.#seen.delete(this.#seen.keys().next().value ?? carrier);
    this.#seen.set(carrier, tick);
    return false;
  }
}
