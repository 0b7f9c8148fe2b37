/**
 * Collects events of one key until the end of its fold window: each different detail once, with its count. Beyond `DETAILS`, a
 * further detail replaces the newest detail, and their counts are added.
 */
import type { Event, Handled } from '../core/event.ts';
import type { Detail } from './storm.ts';
import { detailOfEvent } from './recent-details.ts';

export class Fold {
  /** Details by their text, the newest last. */
  readonly details = new Map<string, Detail>();
  /** The number of waiting events. */
  events = 0;
  /** The number (`OrderedWriter.arrived`) of the newest event. */
  last = 0;
  /** Resolves to the result for every caller that emitted one of these events. */
  readonly done = Promise.withResolvers<Handled>();
  #newest = '';

  add(event: Event, { last, supersede }: { readonly last: number; readonly supersede: boolean }): void {
    this.events++;
    this.last = last;
    const { details } = this;
    if (supersede) details.clear();
    // One notification has one sender and one moment, so events with different senders or moments stay separate.
    const text = `${detailOfEvent(event)}\n${JSON.stringify([event.origin, event.deliver])}`;
    const name = details.has(text) || details.size < DETAILS ? text : this.#newest;
    const detail = details.get(name);
    if (detail !== undefined && name === this.#newest) {
      detail.event = event;
      detail.count++;
      return;
    }
    // The detail moves to the end, because the last detail is the current state.
    details.delete(name);
    details.set(name, { event, count: (detail?.count ?? 0) + 1 });
    this.#newest = name;
  }
}

/** The maximum number of different details that a fold keeps. */
export const DETAILS = 50;
