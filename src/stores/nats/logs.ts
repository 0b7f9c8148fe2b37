/** Keeps logs in the memory of this process, and brings a log up to date before most uses. */
import type { LogKey } from '../../core/address.ts';
import { Late } from '../insist.ts';
import { type LogSubjects, logSubjects, logTokens } from './names.ts';
import type { Message } from './ranges.ts';
import type { Server } from './server.ts';
import { bodyText } from './body.ts';
import type { Row, Tables } from './tables.ts';
import { isBeaten } from './trouble.ts';
import { type Effect, View } from './view.ts';

/**
 * The positions of a log's removed records, until their messages are deleted. At the time of the removal, all appends up to
 * `upTo` were complete.
 */
export type Cut = { readonly removed: readonly number[]; readonly upTo: number };

/** The maximum number of logs in memory. Above this number, the least recently used logs without work leave the memory. */
const MOST = 2_000;

/** `works`: how many calls of `exclusive` run or wait. */
type Entry = { view: View | undefined; turn: Promise<unknown>; next: Promise<View> | undefined; works: number };

/** Called for each message that is added to a view, with the message's effect, or with undefined if it has no effect. */
export type OnEffect = (seq: number, effect: Effect | undefined) => void;

export class Logs {
  readonly #server: Server;
  readonly #tables: Tables;
  /** The names (`tx`) of the appends that this process has not answered yet. */
  readonly #pending: ReadonlySet<string>;
  readonly #entries = new Map<LogKey, Entry>();

  constructor(server: Server, tables: Tables, pending: ReadonlySet<string>) {
    this.#server = server;
    this.#tables = tables;
    this.#pending = pending;
  }

  subjects(log: LogKey): LogSubjects {
    return logSubjects(this.#server.root, log);
  }

  cutOf(log: LogKey): string {
    return `cut.${logTokens(log)}`;
  }

  /** Returns the current state of the log. Calls that arrive while another call waits get the same result. */
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
   * Runs the work while no other work of this process uses the log. `refresh` brings the log's view up to date. `known` is the
   * view after the previous work, which may lack newer messages of other processes.
   */
  exclusive<T>(
    log: LogKey,
    work: (refresh: (onEffect?: OnEffect) => Promise<View>, known: View | undefined) => Promise<T>,
  ): Promise<T> {
    const entry = this.#entry(log);
    entry.works++;
    const running = entry.turn.then(() => work((onEffect) => this.#refresh(log, entry, onEffect), entry.view));
    entry.turn = running
      .catch(() => {
        // Work that exceeded its time limit may still be running and change this view, so the view is dropped.
        entry.view = undefined;
      })
      .finally(() => void entry.works--);
    return running;
  }

  /** Whether the log is in memory. */
  has(log: LogKey): boolean {
    return this.#entries.get(log)?.view !== undefined;
  }

  /** Drops the view of the log, so that its next use reads the whole log again. */
  forget(log: LogKey): void {
    const entry = this.#entries.get(log);
    if (entry !== undefined) entry.view = undefined;
  }

  /** Reads the whole log from its messages, and does not use the state that this process has in memory. */
  async reread(log: LogKey): Promise<View> {
    return this.#refresh(log, { view: undefined, turn: Promise.resolve(), next: undefined, works: 0 });
  }

  /** Adds this message, which this process has just stored, and all earlier messages of the log to the view. */
  async take(log: LogKey, view: View, message: Message, onEffect: OnEffect): Promise<void> {
    if (message.seq === view.seq + 1) onEffect(message.seq, view.apply(message));
    else await this.#readUpTo(log, view, message.seq, onEffect);
  }

  /**
   * Publishes the further records that the newest decided append still lacks. Each process does this, because the writer's
   * process may have ended.
   */
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
    // In a cluster, another process may have published the rest of the append before readers can see it. `Late` makes the caller
    // retry.
    if (view.unfinished !== undefined) throw new Late(`the rest of append ${unfinished.seq} of ${log} is not visible yet`);
  }

  async #refresh(log: LogKey, entry: Entry, onEffect: OnEffect = () => {}): Promise<View> {
    const [cut] = await Promise.all([
      this.#tables.get<Cut>(this.cutOf(log)),
      entry.view === undefined ? undefined : this.#catchUp(log, entry.view, onEffect),
    ]);
    // If the list of removed records has changed since the view was read, the view is read again.
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
    return new View(log, { cut: seq, removed: new Set(value?.removed), upTo: value?.upTo ?? 0, pending: this.#pending });
  }

  async #catchUp(log: LogKey, view: View, onEffect: OnEffect): Promise<void> {
    const { all } = this.subjects(log);
    const last = await this.#server.last(this.#server.logs, all);
    if (last === undefined || last.seq <= view.seq) return;
    await this.#readUpTo(log, view, last.seq, onEffect);
  }

  async #readUpTo(log: LogKey, view: View, upTo: number, onEffect: OnEffect): Promise<void> {
    for (const message of await this.#server.ranges.range(this.#server.logs, this.subjects(log).all, view.seq, upTo))
      onEffect(message.seq, view.apply(message));
    view.seq = Math.max(view.seq, upTo);
  }

  #entry(log: LogKey): Entry {
    const entry = this.#entries.get(log) ?? { view: undefined, turn: Promise.resolve(), next: undefined, works: 0 };
    this.#entries.delete(log);
    this.#entries.set(log, entry);
    if (this.#entries.size > MOST)
      for (const [key, { works }] of this.#entries) {
        if (this.#entries.size <= MOST) break;
        if (works === 0 && key !== log) this.#entries.delete(key);
      }
    return entry;
  }
}
