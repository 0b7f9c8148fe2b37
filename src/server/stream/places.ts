/**
 * Limits the number of streams, in total and for one token with its sessions. A stream gets its place before its first read, so a
 * stream that is still opening counts.
 */
import { ProblemError } from '../problems.ts';
import type { Principal } from '../tokens.ts';

/** The shares of all streams for an admin token and for any other token. A share includes the streams of the token's sessions. */
const PART_OF_ADMIN = 0.8;
const PART_OF_ONE = 0.2;
/**
 * The maximum number of streams that are opened in one iteration of the event loop. Without this limit, a burst of new streams
 * would delay requests.
 */
const OPENED_A_TURN = 64;

export class Places {
  readonly #max: number;
  readonly #takenBy = new Map<string, number>();
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  #openedNow = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Throws `too_many_streams` if this principal cannot open a further stream. */
  mustHaveOne(who: Principal): void {
    const own = this.#takenBy.get(who.account) ?? 0;
    const ofOne = Math.ceil(this.#max * (who.kind === 'admin' ? PART_OF_ADMIN : PART_OF_ONE));
    if (this.#taken < this.#max && own < ofOne) return;
    const open = this.#taken >= this.#max ? `${this.#taken} streams` : `${own} streams of this token`;
    throw new ProblemError('too_many_streams', `${open} are open, the maximum; close some streams`, {
      headers: { 'retry-after': '5' },
    });
  }

  /** Takes a place, and returns a function that frees the place. A second call of that function does nothing. */
  take(who: Principal): () => void {
    this.mustHaveOne(who);
    this.#add(who.account, 1);
    let taken = true;
    return () => {
      if (taken) this.#add(who.account, -1);
      taken = false;
    };
  }

  /** Resolves when the stream may open. Streams open in the order of their arrival. */
  async turn(): Promise<void> {
    if (this.#openedNow >= OPENED_A_TURN) return new Promise((resolve) => void this.#waiting.push(resolve));
    if (this.#openedNow++ === 0) setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    const next = this.#waiting.splice(0, OPENED_A_TURN);
    this.#openedNow = next.length;
    if (next.length > 0) setImmediate(() => this.#nextTurn());
    for (const open of next) open();
  }

  #add(account: string, more: 1 | -1): void {
    const left = (this.#takenBy.get(account) ?? 0) + more;
    if (left === 0) this.#takenBy.delete(account);
    else this.#takenBy.set(account, left);
    this.#taken += more;
  }
}
