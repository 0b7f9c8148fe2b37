import { fault } from '../../core/faults.ts';
import { cancelledBy, type Frame } from '../../mcp/frames/frame.ts';
import type { Delivery } from './rider.ts';

/**
 * A cancel this soon after the write may have crossed with the answer: the client may never have read it. A later cancel is for
 * an answer that the client has.
 */
export const CONFIRM_AFTER_MS = 250;

type Unsettled = {
  readonly delivery: Delivery;
  /** Whether the client cancelled the last answer too, right after it was written. */
  readonly again: boolean;
  timer?: NodeJS.Timeout;
  written: boolean;
};

/**
 * Deliveries of one client that are not settled yet, from just before their write.
 *
 * writing: `begin` → the bytes are on their way. A cancel of that request releases. written: After `written`, a cancel of that
 * request releases for `confirmAfterMs`. Any other frame confirms, and so does the end of that time. A client that cancels one
 * answer after another has read them: its second cancel in a row confirms. Each delivery is settled exactly once. A cancel of a
 * settled request is ignored, as MCP allows.
 */
export class Settling {
  readonly #open = new Map<string, Unsettled>();
  readonly #confirmAfterMs: number;
  #crossed = false;
  /** See `Profile.cancelsAnswered`: a cancel from this client never crosses with an answer. */
  cancelsAnswered = false;
  /** Whether the client's process is dead. Called once, when the client has disconnected. */
  hasDied: () => boolean = () => false;

  constructor(confirmAfterMs: number = CONFIRM_AFTER_MS) {
    this.#confirmAfterMs = confirmAfterMs;
  }

  begin(requestId: string, delivery: Delivery): void {
    // The client reuses an id before its first answer is settled: the client continued, so it has that answer.
    this.#settle(requestId, (before) => before.confirm());
    this.#open.set(requestId, { delivery, written: false, again: this.#crossed });
    fault('carrier.before_bytes');
  }

  written(requestId: string, delivery: Delivery): void {
    const entry = this.#open.get(requestId);
    if (entry?.delivery !== delivery) return;
    entry.written = true;
    fault('carrier.after_bytes');
    entry.timer = setTimeout(() => this.#taken(requestId), this.#confirmAfterMs);
    entry.timer.unref();
  }

  failed(requestId: string, delivery: Delivery): void {
    if (this.#open.get(requestId)?.delivery === delivery) this.#settle(requestId, () => delivery.release('write_error'));
  }

  /** The client's connection broke after the bytes had left: it was killed before it read them. */
  reset(requestId: string, delivery: Delivery): void {
    if (this.#open.get(requestId)?.delivery === delivery) this.#settle(requestId, () => delivery.release('client_died'));
  }

  /** The client disconnected while it read the answer to this request (an aborted HTTP request). */
  aborted(requestId: string): void {
    this.#settle(requestId, (delivery) => delivery.release('cancelled'));
  }

  /** The client's next frame has arrived. */
  heard(frame: Frame): void {
    if (this.#open.size === 0) return;
    const cancelled = cancelledBy(frame);
    // A cancel proves nothing about the other answers: a client that stops cancels all of its calls, one frame each.
    if (cancelled !== undefined) return this.#cancelled(cancelled);
    for (const [requestId, { written }] of this.#open) if (written) this.#taken(requestId);
  }

  /**
   * The client has disconnected. It has every answer that it received whole before a regular disconnect: clients often end right
   * after an answer. A client that was killed right after an answer may not have read it.
   */
  end(): void {
    const died = this.#open.size > 0 && this.hasDied();
    for (const [requestId, { written }] of this.#open) {
      this.#settle(requestId, (delivery) => {
        if (!written) delivery.release('write_error');
        else if (died) delivery.release('client_died');
        else delivery.confirm();
      });
    }
  }

  #cancelled(requestId: string): void {
    const entry = this.#open.get(requestId);
    if (entry === undefined) return;
    const has = entry.written && (entry.again || this.cancelsAnswered);
    if (entry.written) this.#crossed = true;
    this.#settle(requestId, (delivery) => (has ? delivery.confirm() : delivery.release('cancelled')));
  }

  #taken(requestId: string): void {
    this.#crossed = false;
    this.#settle(requestId, (delivery) => delivery.confirm());
  }

  #settle(requestId: string, how: (delivery: Delivery) => void): void {
    const entry = this.#open.get(requestId);
    if (entry === undefined) return;
    this.#open.delete(requestId);
    clearTimeout(entry.timer);
    how(entry.delivery);
  }
}
