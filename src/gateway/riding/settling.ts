import { fault } from '../../core/faults.ts';
import type { Frame } from '../frames/frame.ts';
import { param, idOf } from '../frames/frame.ts';
import type { Delivery } from './rider.ts';

/** When the client has said nothing for this long after the bytes were written, it has taken them. */
export const CONFIRM_AFTER_MS = 2_000;

/**
 * Deliveries of one client between "about to be written" and "settled".
 *
 * writing: `begin` → the bytes are on their way. A cancel of that request releases.
 * written: `written` → the client's next frame settles: its cancel releases, any other frame confirms; silence confirms too.
 * Each delivery gets exactly one answer.
 */
export class Settling {
  readonly #open = new Map<string, { readonly delivery: Delivery; timer?: NodeJS.Timeout; written: boolean }>();
  readonly #confirmAfterMs: number;

  constructor(confirmAfterMs: number = CONFIRM_AFTER_MS) {
    this.#confirmAfterMs = confirmAfterMs;
  }

  begin(requestId: string, delivery: Delivery): void {
    // An id that is used again while its first answer is unsettled: the client went on, so it has that answer.
    this.#settle(requestId, (before) => before.confirm());
    this.#open.set(requestId, { delivery, written: false });
    fault('carrier.before_bytes');
  }

  written(requestId: string, delivery: Delivery): void {
    const entry = this.#open.get(requestId);
    if (entry?.delivery !== delivery) return;
    entry.written = true;
    fault('carrier.after_bytes');
    entry.timer = setTimeout(() => this.#settle(requestId, () => delivery.confirm()), this.#confirmAfterMs);
    entry.timer.unref();
  }

  failed(requestId: string, delivery: Delivery): void {
    if (this.#open.get(requestId)?.delivery === delivery) this.#settle(requestId, () => delivery.release('write_error'));
  }

  /** The client went away in the middle of reading the answer to this request (an aborted HTTP request). */
  aborted(requestId: string): void {
    this.#settle(requestId, (delivery) => delivery.release('cancelled'));
  }

  /** The client's next frame is here. */
  heard(frame: Frame): void {
    if (this.#open.size === 0) return;
    const cancelled = cancelledBy(frame);
    if (cancelled !== undefined) this.#settle(cancelled, (delivery) => delivery.release('cancelled'));
    for (const [requestId, { written }] of this.#open) if (written) this.#settle(requestId, (delivery) => delivery.confirm());
  }

  /** The client is gone. What it got in whole before it hung up, it got: a client that ends in order does so right after an answer. */
  end(): void {
    for (const [requestId, { written }] of this.#open) {
      this.#settle(requestId, (delivery) => (written ? delivery.confirm() : delivery.release('write_error')));
    }
  }

  #settle(requestId: string, how: (delivery: Delivery) => void): void {
    const entry = this.#open.get(requestId);
    if (entry === undefined) return;
    this.#open.delete(requestId);
    clearTimeout(entry.timer);
    how(entry.delivery);
  }
}

/** The request that a `notifications/cancelled` names. */
export function cancelledBy(frame: Frame): string | undefined {
  if (frame.kind !== 'note' || frame.method !== 'notifications/cancelled') return undefined;
  const at = param(frame, 'requestId');
  return at && idOf(frame.bytes, at);
}
