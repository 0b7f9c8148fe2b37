/**
 * The texts of one gateway on their way to its clients. The store makes the offers of a conversation in order. Their texts may
 * leave in another order, because each answer waits for its own server and its own lane. Without `isOvertaken`, the model could
 * read an older state of a key after the newer state.
 *
 * A departure begins before its offer is made, and ends when its text has left or will never leave. The newest states that have
 * left are kept while a departure of the conversation is open.
 */
import type { Delivery, Departing } from './rider.ts';

export class Departures {
  readonly #open = new Map<string, Way>();

  /** Makes an offer with its departure. `conversation`: the address of the conversation. */
  async around<T extends ({ readonly offer?: Shown | undefined } & Partial<Shown>) | undefined>(
    conversation: string,
    make: () => Promise<T>,
  ): Promise<{ readonly made: T; readonly departure: Departure }> {
    const departure = this.#begin(conversation);
    try {
      const made = await make();
      const states = made?.offer?.states ?? made?.states;
      if (states === undefined) departure.end();
      else departure.shows(states);
      return { made, departure };
    } catch (error) {
      departure.end();
      throw error;
    }
  }

  /** Returns the departure of a text that is already made. */
  of(conversation: string, states: Shown['states']): Departure {
    const departure = this.#begin(conversation);
    departure.shows(states);
    return departure;
  }

  #begin(conversation: string): Departure {
    const way = this.#open.get(conversation) ?? { count: 0, left: new Map() };
    this.#open.set(conversation, way);
    way.count += 1;
    return new Departure(way, () => {
      way.count -= 1;
      if (way.count === 0) this.#open.delete(conversation);
    });
  }
}

/** `states`: see `Offer`. */
type Shown = { readonly states: ReadonlyMap<string, number> };

/** `count`: the number of open departures. `left`: the newest position of each state that has left. */
type Way = { count: number; readonly left: Map<string, number> };

export class Departure implements Departing {
  readonly #way: Way;
  readonly #ended: () => void;
  #states: ReadonlyMap<string, number> = new Map();
  #open = true;

  constructor(way: Way, ended: () => void) {
    this.#way = way;
    this.#ended = ended;
  }

  shows(states: ReadonlyMap<string, number>): void {
    this.#states = states;
  }

  get isOvertaken(): boolean {
    return this.#open && [...this.#states].some(([state, seq]) => (this.#way.left.get(state) ?? seq) > seq);
  }

  leave(): void {
    if (!this.#open) return;
    for (const [state, seq] of this.#states) this.#way.left.set(state, Math.max(seq, this.#way.left.get(state) ?? seq));
    this.end();
  }

  /** Ties a delivery to this departure: the returned delivery ends the departure when it is confirmed or released. */
  of(delivery: Delivery): Delivery {
    return {
      departure: this,
      confirm: () => {
        this.end();
        delivery.confirm();
      },
      release: (reason) => {
        this.end();
        delivery.release(reason);
      },
    };
  }

  end(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#ended();
  }
}
