import type { OpenCall, Outgoing } from './riding/carry.ts';

/** Holds the calls whose answer is known but not sent yet, because the rider still handles this answer or an earlier one. */
export class Answering {
  readonly #calls = new Map<string, OpenCall>();
  #clientEnded = false;

  /** Adds a call. After the end of the client, the call counts as cancelled, so its answer carries no notification. */
  add(call: OpenCall): void {
    if (this.#clientEnded) call.cancelled = true;
    this.#calls.set(call.requestId, call);
  }

  cancel(id: string): void {
    const call = this.#calls.get(id);
    if (call !== undefined) call.cancelled = true;
  }

  clientEnded(): void {
    this.#clientEnded = true;
    for (const id of this.#calls.keys()) this.cancel(id);
  }

  /** Returns the answer to send now. Releases the delivery if the call was cancelled. */
  leaving(out: Outgoing): Outgoing {
    const call = this.#calls.get(out.requestId ?? '');
    if (call === undefined) return out;
    this.#calls.delete(call.requestId);
    if (!call.cancelled || out.delivery === undefined) return out;
    out.delivery.release('cancelled');
    return { bytes: out.bytes };
  }
}
