/**
 * Finds the `fan_out` records in the logs of projects. A process reads all records once, keeps their ids and positions, and later
 * reads only newer records. When a record is needed, it is read again, because it may have been removed since.
 */
import type { LogKey } from '../../core/address.ts';
import type { Stamped } from '../../core/clocks.ts';
import type { NotificationId } from '../../core/notification.ts';
import type { Store } from '../../core/ports.ts';
import { isType, type FanOutRecord } from '../../core/records.ts';

/** The number of records per read. A record may name 1,000 agents, so a page may have a few MB. */
const PAGE = 200;

export type Intent = Stamped & { readonly body: FanOutRecord };

/** `all` and `unfinished`: the position of each fan-out, by its id. `readTo`: the position of the last record that was read. */
type Known = {
  readonly all: Map<NotificationId, number>;
  readonly unfinished: Map<NotificationId, number>;
  readTo: number;
  reading: Promise<void>;
};

export class Intents {
  readonly #store: Store;
  readonly #logs = new Map<LogKey, Known>();

  constructor({ store }: { readonly store: Store }) {
    this.#store = store;
  }

  async find(log: LogKey, id: NotificationId): Promise<Intent | undefined> {
    const { all } = await this.#known(log);
    return this.#at(log, all.get(id));
  }

  /** Returns the fan-outs that no process has finished yet, oldest first. */
  async *unfinished(log: LogKey): AsyncGenerator<Intent, void, undefined> {
    const { unfinished } = await this.#known(log);
    // The positions are copied, to leave out a fan-out that begins during this loop: the process that begins it also finishes it.
    const seqs = [...unfinished.values()];
    for (const seq of seqs) {
      const intent = await this.#at(log, seq);
      if (intent !== undefined) yield intent;
    }
  }

  async #known(log: LogKey): Promise<Known> {
    const known: Known = this.#logs.get(log) ?? {
      all: new Map(),
      unfinished: new Map(),
      readTo: 0,
      reading: Promise.resolve(),
    };
    this.#logs.set(log, known);
    // Only one read runs at a time, because a slower read must not add a fan-out that a later record has finished.
    const read = (): Promise<void> => this.#read(log, known);
    await (known.reading = known.reading.then(read, read));
    return known;
  }

  async #read(log: LogKey, known: Known): Promise<void> {
    for (;;) {
      const records = await this.#store.read({
        log,
        types: ['fan_out', 'fan_out_done'],
        after: known.readTo,
        limit: PAGE,
      });
      for (const { seq, body } of records) {
        known.readTo = seq;
        if (isType(body, 'fan_out_done')) known.unfinished.delete(body.id);
        else if (isType(body, 'fan_out')) for (const found of [known.all, known.unfinished]) found.set(body.id, seq);
      }
      if (records.length < PAGE) return;
    }
  }

  async #at(log: LogKey, seq: number | undefined): Promise<Intent | undefined> {
    if (seq === undefined) return undefined;
    const [record] = await this.#store.read({ log, seqs: [seq] });
    return record !== undefined && isType(record.body, 'fan_out') ? { ...record, body: record.body } : undefined;
  }
}
