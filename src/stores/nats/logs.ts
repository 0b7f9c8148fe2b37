/** The logs that this process has in memory, each brought up to date before it is used. */
import type { LogKey } from '../../core/address.ts';
import { EarpieceError } from '../../core/errors.ts';
import { type LogSubjects, logSubjects, logTokens } from './names.ts';
import type { Message, Server } from './server.ts';
import { bodyText } from './body.ts';
import type { Row, Tables } from './tables.ts';
import { isBeaten } from './trouble.ts';
import { type Effect, View } from './view.ts';

/** The removed records of a log. The appends up to `upTo` were finished by then. */
export type Cut = { readonly removed: readonly number[]; readonly upTo: number };

/** More logs than that are forgotten, those used least recently first. */
const MOST = 2_000;

type Entry = { view: View | undefined; turn: Promise<unknown>; next: Promise<View> | undefined };

/** Called for each message that comes in, with its effect. Undefined: it has none. */
export type OnEffect = (seq: number, effect: Effect | undefined) => void;

export class Logs {
  readonly #server: Server;
  readonly #tables: Tables;
  /** The prefix of the names that this process gives to its appends. */
  readonly #mine: string;
  readonly #entries = new Map<LogKey, Entry>();

  constructor(server: Server, tables: Tables, mine: string) {
    this.#server = server;
    this.#tables = tables;
    this.#mine = mine;
  }

  subjects(log: LogKey): LogSubjects {
    return logSubjects(this.#server.root, log);
  }

  cutOf(log: LogKey): string {
    return `cut.${logTokens(log)}`;
  }

  /** The log as it is now. Calls that come while one waits for its turn share that turn. */
  fresh(log: LogKey): Promise<View> {
    const entry = this.#entry(log);
    if (entry.next !== undefined) return entry.next;
    entry.next = this.exclusive(log, (refresh) => {
      entry.next = undefined;
      return refresh();
    });
    return entry.next;
  }

  /**
   * Runs alone among the work of this process on one log. `refresh` brings its view up to date. `known`: the view of the last work, in
   * which messages of other processes may be missing.
   */
  exclusive<T>(
    log: LogKey,
    work: (refresh: (onEffect?: OnEffect) => Promise<View>, known: View | undefined) => Promise<T>,
  ): Promise<T> {
    const entry = this.#entry(log);
    const running = entry.turn.then(() => work((onEffect) => this.#refresh(log, entry, onEffect), entry.view));
    entry.turn = running.catch(() => {
      // Work that ran out of time may still go on, with this view.
      entry.view = undefined;
    });
    return running;
  }

  /** Reads the log anew when it is used next. */
  forget(log: LogKey): void {
    const entry = this.#entries.get(log);
    if (entry !== undefined) entry.view = undefined;
  }

  /** The log as its messages give it, without what this process has in memory. */
  async reread(log: LogKey): Promise<View> {
    return this.#refresh(log, { view: undefined, turn: Promise.resolve(), next: undefined });
  }

  /** Brings the view up to a message that this process has just stored. */
  async take(log: LogKey, view: View, message: Message, onEffect: OnEffect): Promise<void> {
    if (message.seq === view.seq + 1) onEffect(message.seq, view.apply(message));
    else await this.#readUpTo(log, view, message.seq, onEffect);
  }

  /** Publishes the further records of the newest append. Its writer does it at once, unless it has ended. */
  async finish(log: LogKey, view: View, onEffect: OnEffect = () => {}): Promise<void> {
    const { unfinished } = view;
    if (unfinished === undefined) return;
    const subjects = this.subjects(log);
    const texts = unfinished.drafts.map((draft) =>
      bodyText({ tx: '', at: unfinished.at, now: unfinished.now }, [{ text: JSON.stringify(draft) }]),
    );
    const sent = await Promise.all(
      [...unfinished.left].map(async (n) => {
        const subject = subjects.rest(unfinished.seq, n);
        const text = texts[n - 1] as string;
        const seq = await this.#server.publish(subject, text, 0).catch((error: unknown) => {
          if (isBeaten(error)) return undefined;
          throw error;
        });
        return seq === undefined ? undefined : { seq, subject, text };
      }),
    );
    for (const message of sent.filter((one) => one !== undefined).toSorted((a, b) => a.seq - b.seq))
      await this.take(log, view, message, onEffect);
    if (view.unfinished !== undefined) await this.#catchUp(log, view, onEffect);
    if (view.unfinished !== undefined)
      throw new EarpieceError(
        'store_corrupt',
        `${this.#server.address.name}: append ${unfinished.seq} of ${log} cannot be finished: restore a backup`,
      );
  }

  async #refresh(log: LogKey, entry: Entry, onEffect: OnEffect = () => {}): Promise<View> {
    const [cut] = await Promise.all([
      this.#tables.get<Cut>(this.cutOf(log)),
      entry.view === undefined ? undefined : this.#catchUp(log, entry.view, onEffect),
    ]);
    // A view that was read while somebody removes records is read again.
    for (
      let known = cut;
      entry.view === undefined || entry.view.cut !== known.seq;
      known = await this.#tables.get<Cut>(this.cutOf(log))
    ) {
      entry.view = this.#empty(log, known);
      await this.#catchUp(log, entry.view, onEffect);
    }
    await this.finish(log, entry.view, onEffect);
    return entry.view;
  }

  #empty(log: LogKey, { seq, value }: Row<Cut>): View {
    return new View(log, { cut: seq, removed: new Set(value?.removed), upTo: value?.upTo ?? 0, mine: this.#mine });
  }

  async #catchUp(log: LogKey, view: View, onEffect: OnEffect): Promise<void> {
    const { all } = this.subjects(log);
    const last = await this.#server.last(this.#server.logs, all);
    if (last === undefined || last.seq <= view.seq) return;
    await this.#readUpTo(log, view, last.seq, onEffect);
  }

  async #readUpTo(log: LogKey, view: View, upTo: number, onEffect: OnEffect): Promise<void> {
    for (const message of await this.#server.range(this.#server.logs, this.subjects(log).all, view.seq, upTo))
      onEffect(message.seq, view.apply(message));
    view.seq = Math.max(view.seq, upTo);
  }

  #entry(log: LogKey): Entry {
    const entry = this.#entries.get(log) ?? { view: undefined, turn: Promise.resolve(), next: undefined };
    this.#entries.delete(log);
    this.#entries.set(log, entry);
    if (this.#entries.size > MOST)
      for (const [key, { next }] of this.#entries) {
        if (this.#entries.size <= MOST) break;
        if (next === undefined && key !== log) this.#entries.delete(key);
      }
    return entry;
  }
}
