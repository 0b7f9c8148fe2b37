/** Notifies an agent once when a server stops working, and once when it works again. */
import type { GuardedRider } from '../riding/guarded.ts';
import type { Connection, UpstreamEvent } from '../riding/rider.ts';

export class Health {
  readonly #rider: GuardedRider;
  /** The servers that were reported to the agent as not working. */
  readonly #bad = new Set<string>();
  /** The newest event about each server from before the client identified itself. */
  readonly #early = new Map<string, UpstreamEvent>();
  #agent: Connection['key'] | undefined;

  constructor(rider: GuardedRider) {
    this.#rider = rider;
  }

  /** Sends the kept events to the agent. Later events are sent at once. */
  begin(agent: Connection['key']): void {
    this.#agent = agent;
    for (const event of this.#early.values()) this.tell(event);
    this.#early.clear();
  }

  tell(event: UpstreamEvent): void {
    if (this.#agent === undefined) return void this.#early.set(event.server, event);
    const bad = event.state === 'failed' || event.state === 'disconnected';
    if (bad === this.#bad.has(event.server)) return;
    if (bad) this.#bad.add(event.server);
    else this.#bad.delete(event.server);
    this.#rider.upstream(event, this.#agent);
  }
}
