import { ASKED_AGAIN_MS, type KnownGate } from '../../inbox/index.ts';
import { noDelivery, type Call, type Verdict } from './rider.ts';

/**
 * The last known gate of one connection, for a call that the store does not answer in time. A pause holds. Any other interrupt
 * holds as with a working store: until a call begins a second or more after the last refusal.
 */
export class LastGate {
  #gate: KnownGate | undefined;
  /** The conversation of the gate, and the interrupts that raise it. */
  #name: string | undefined;
  #refusedAt = Number.POSITIVE_INFINITY;

  /** The calls that were decided while the store still works on its answer: the refusal's text; undefined: the call passed. */
  readonly #decided = new WeakMap<Call, string | undefined>();

  /**
   * The text to refuse with: the first one for these interrupts of this conversation, which may be sent before its record is
   * written. Undefined: the call has passed or was refused with another text, so no refusal with this text may be written.
   */
  known(gate: KnownGate, call: Call, conversation: string): string | undefined {
    const name = [conversation, ...gate.ids].join(' ');
    if (this.#gate === undefined || name !== this.#name) {
      this.#refusedAt = Number.POSITIVE_INFINITY;
      this.#gate = gate;
      this.#name = name;
    }
    const { text } = this.#gate;
    return this.#decided.has(call) && this.#decided.get(call) !== text ? undefined : text;
  }

  refused(): void {
    this.#refusedAt = performance.now();
  }

  /** The store refused nothing for this call. A call that was decided without the store proves nothing about the gate. */
  down(call: Call): void {
    if (!this.#decided.delete(call)) this.#gate = undefined;
  }

  /** The refusal of a call for which the store gives no decision in time. Undefined if the call passes. */
  held(call: Call): Verdict | undefined {
    const gate = this.#gate;
    if (gate === undefined || (!gate.paused && performance.now() - this.#refusedAt >= ASKED_AGAIN_MS)) {
      this.#decided.set(call, undefined);
      return undefined;
    }
    const { text, ids } = gate;
    this.#decided.set(call, text);
    this.refused();
    return { kind: 'refuse', text, meta: { 'earpiece/notifications': ids }, delivery: noDelivery };
  }
}
