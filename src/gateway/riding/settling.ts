import { fault } from '../../core/faults.ts';
import { cancelledBy, type Frame } from '../../mcp/frames/frame.ts';
import type { Delivery } from './rider.ts';

/**
 * A client that cancels within this time after the write may not have read the answer. A client that cancels later has read the
 * answer.
 */
export const CONFIRM_AFTER_MS = 250;

type Unsettled = {
  readonly delivery: Delivery;
  /** Whether the client also cancelled the previous answer right after it was written. */
  readonly again: boolean;
  timer?: NodeJS.Timeout;
  written: boolean;
};

/**
 * Settles the deliveries of one client. A delivery is in one of two states until it is confirmed or released.
 *
 * State `writing`, after `begin`: a cancel of the request releases its delivery. State `written`, for `confirmAfterMs`: a cancel
 * of the request releases its delivery. A frame of the client that is not a cancel confirms the delivery, and so does the end of
 * that time. A client that cancels several answers in a row has read these answers. So the cancel of a later answer confirms the
 * delivery of that answer. Each delivery is settled exactly once. A cancel of a settled request is ignored, as MCP allows.
 */
export class Settling {
  readonly #open = new Map<string, Unsettled>();
  readonly #confirmAfterMs: number;
  #crossed = false;
  #ended = false;
  /** Whether this client cancels every answer that it has read: see `Profile.cancelsAnswered`. */
  cancelsAnswered = false;
  /** Returns whether the client's process has died. `end` calls this function if deliveries are unsettled. */
  hasDied: () => boolean = () => false;

  constructor(confirmAfterMs: number = CONFIRM_AFTER_MS) {
    this.#confirmAfterMs = confirmAfterMs;
  }

  begin(requestId: string, delivery: Delivery): void {
    // If the client reuses the id of an unsettled answer, the client has read that answer.
    this.#settle(requestId, (before) => before.confirm());
    if (this.#ended) return delivery.release('client_died');
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

  /**
   * Releases a delivery whose bytes had left when the connection was reset, because a killed client may not have read the bytes.
   */
  reset(requestId: string, delivery: Delivery): void {
    if (this.#open.get(requestId)?.delivery === delivery) this.#settle(requestId, () => delivery.release('client_died'));
  }

  /** Settles deliveries by the client's next frame. */
  clientSent(frame: Frame): void {
    if (this.#open.size === 0) return;
    const cancelled = cancelledBy(frame);
    // A cancel proves nothing about the other answers, because a client that stops sends one cancel for each of its calls.
    if (cancelled !== undefined) return this.#cancelled(cancelled);
    for (const [requestId, { written }] of this.#open) if (written) this.#taken(requestId);
  }

  /**
   * Releases the deliveries whose bytes have not left when the client ends its input, and each later delivery. Such a client no
   * longer reads. `end` settles the other deliveries.
   */
  clientEnded(): void {
    this.#ended = true;
    for (const [requestId, { written }] of this.#open)
      if (!written) this.#settle(requestId, (delivery) => delivery.release('client_died'));
  }

  /**
   * Settles all deliveries of a client that has disconnected. Clients often end right after an answer. After a regular
   * disconnect, every answer whose bytes were written counts as read. A client that was killed right after an answer may not have
   * read it.
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
