import { ASKED_AGAIN_MS, type Conversation, type KnownGate } from '../../inbox/index.ts';
import type { Call } from './rider.ts';

type ConversationGate = KnownGate & { readonly conversation: Conversation };

/**
 * Keeps the last known gate of one connection, to decide a call that the store does not answer in time. A pause keeps the gate
 * up. Any other interrupt keeps the gate up until `ASKED_AGAIN_MS` after the last refusal.
 */
export class LastGate {
  #gate: ConversationGate | undefined;
  /** The conversation and the interrupts of the gate, as one key. */
  #name: string | undefined;
  #refusedAt = Number.POSITIVE_INFINITY;

  /** The calls that were decided without the store, each with the text of its refusal, or undefined if the call passed. */
  readonly #decided = new WeakMap<Call, string | undefined>();

  /**
   * Returns the text of the refusal: the first text for these interrupts of this conversation. The text may be sent before its
   * record is written. Returns undefined if the call has passed or was refused with another text. In that case, the caller
   * records no refusal.
   */
  known(gate: KnownGate, call: Call, conversation: Conversation): string | undefined {
    const name = [conversation.address, ...gate.ids].join(' ');
    if (this.#gate === undefined || name !== this.#name) {
      this.#refusedAt = Number.POSITIVE_INFINITY;
      this.#gate = { ...gate, conversation };
      this.#name = name;
    }
    const { text } = this.#gate;
    return this.#decided.has(call) && this.#decided.get(call) !== text ? undefined : text;
  }

  refused(): void {
    this.#refusedAt = performance.now();
  }

  /**
   * Records that the store let this call pass, so no gate is up. A call that was decided without the store proves nothing about
   * the gate.
   */
  down(call: Call): void {
    if (!this.#decided.delete(call)) this.#gate = undefined;
  }

  /** Whether the gate holds back a call that the store does not decide in time. */
  get isUp(): boolean {
    return this.#gate !== undefined && (this.#gate.paused || performance.now() - this.#refusedAt < ASKED_AGAIN_MS);
  }

  /**
   * Decides a call that the store does not decide in time. Returns the gate whose text refuses the call. Undefined if the call
   * passes.
   */
  held(call: Call): ConversationGate | undefined {
    const gate = this.#gate;
    if (gate === undefined || !this.isUp) {
      this.#decided.set(call, undefined);
      return undefined;
    }
    this.#decided.set(call, gate.text);
    this.refused();
    return gate;
  }
}
