/**
 * Computes the records and items of one log from the log's messages in their order. Each process computes the same state, because
 * the rules depend only on the messages:
 *
 * - A decided append (`a`) is a message with all drafts. The first record has the position of that message. Each further record
 *   follows in another message (`c`), which any process may publish, once.
 * - A queued notification (`q`) is one message.
 * - A message is void if it queues an id that the log already has, or that a decided append will still queue. A void message
 *   occurs only if two processes queue one id at the same moment.
 */
import type { LogKey } from '../../core/address.ts';
import { clockBeside } from '../../core/clocks.ts';
import { type Item, touches } from '../../core/items.ts';
import type { NotificationId } from '../../core/notification.ts';
import type { Draft, Stored } from '../../core/records.ts';
import { follow, type Log, newLog } from '../memory-log.ts';
import { bodyOf } from './body.ts';
import type { Message } from './ranges.ts';

/** The effect of a message: its record, and the items that it changed or made. */
export type Effect = { readonly record: Stored; readonly items: readonly Item[] };

/** A decided append whose further records have not all been published yet. */
export type Unfinished = { readonly seq: number; readonly drafts: readonly Draft[]; readonly at: number; readonly now: number };

export class View {
  readonly log: Log;
  /** The position up to which all messages of the log are in the view. */
  seq = 0;
  /** Whether this process has added the log to the list of logs. */
  isListed = false;
  /** The newest time in the log. */
  lastAt = 0;
  /** The position of the last decided append. */
  decided = 0;
  unfinished: (Unfinished & { readonly left: Set<number> }) | undefined;
  readonly void = new Set<number>();
  /** The first and the last position of each append with several records, for the newest `SPANS` of these appends. */
  readonly #spans: { readonly first: number; last: number }[] = [];
  /** The positions of this process's pending appends and of all appends that change settings, by their names. */
  readonly found = new Map<string, number>();
  /** The positions of all records of this process's pending appends, by the position of the first record. */
  readonly parts = new Map<number, number[]>();
  /** The sequence of the row that lists the removed records, at the time when this view was made. */
  readonly cut: number;
  readonly #removed: ReadonlySet<number>;
  readonly #finished: number;
  readonly #pending: ReadonlySet<string>;
  #reserved = new Set<NotificationId>();

  constructor(
    key: LogKey,
    { cut, removed, upTo, pending }: { cut: number; removed: ReadonlySet<number>; upTo: number; pending: ReadonlySet<string> },
  ) {
    this.log = newLog(key);
    this.cut = cut;
    this.#removed = removed;
    this.#finished = upTo;
    this.#pending = pending;
  }

  apply({ seq, subject, text }: Message): Effect | undefined {
    this.seq = seq;
    const body = bodyOf(text);
    const { tx, drafts } = body;
    const [draft] = drafts as readonly [Draft];
    const now = body.now ?? body.at;
    const [kind = '', first = '', n = ''] = subject.split('.').slice(KIND);
    if (kind === 'a') this.decided = seq;
    const isPending = this.#pending.has(tx);
    if (isPending || body.swaps) this.found.set(tx, seq);
    if (isPending) this.parts.set(seq, [seq]);
    const isRemoved = this.isRemoved(seq);
    if (kind === 'c') this.#arrived({ first: Number(first), n: Number(n), seq, draft });
    else if (!isRemoved && this.#isTaken(drafts)) {
      this.void.add(seq);
      return undefined;
    }
    if (kind === 'a' && drafts.length > 1) {
      this.#spans.push({ first: seq, last: seq });
      if (this.#spans.length > SPANS) this.#spans.shift();
    }
    if (kind === 'a' && drafts.length > 1 && seq > this.#finished) {
      const rest = drafts.slice(1);
      this.unfinished = { seq, drafts: rest, at: body.at, now, left: new Set(rest.map((_, i) => i + 1)) };
      this.#reserved = new Set(rest.flatMap((one) => touches(one).creates));
    }
    if (isRemoved) return undefined;
    const at = Math.max(body.at, this.lastAt);
    this.lastAt = at;
    const record: Stored = { seq, log: this.log.key, at, ...clockBeside(at, now), body: draft };
    const items = follow(this.log, record);
    if (items !== undefined) return { record, items };
    this.void.add(seq);
    return undefined;
  }

  /**
   * Whether the record at this position was removed. The message of a removed record may stay in the stream until the removal is
   * complete.
   */
  isRemoved(seq: number): boolean {
    return this.#removed.has(seq);
  }

  /**
   * Returns the last position of the append that contains `seq`. Returns `seq` if none of the newest `SPANS` appends contains
   * `seq`.
   */
  wholeUpTo(seq: number): number {
    return this.#spans.find(({ first, last }) => first <= seq && seq < last)?.last ?? seq;
  }

  /** Forgets an append of this process after its caller got the answer. */
  answered(tx: string, seq: number): void {
    this.found.delete(tx);
    this.parts.delete(seq);
  }

  #arrived({
    first,
    n,
    seq,
    draft,
  }: {
    readonly first: number;
    readonly n: number;
    readonly seq: number;
    readonly draft: Draft;
  }): void {
    const span = this.#spans.find((one) => one.first === first);
    if (span !== undefined) span.last = Math.max(span.last, seq);
    const parts = this.parts.get(first);
    if (parts !== undefined) parts[n] = seq;
    if (this.unfinished?.seq !== first) return;
    for (const id of touches(draft).creates) this.#reserved.delete(id);
    this.unfinished.left.delete(n);
    if (this.unfinished.left.size === 0) this.unfinished = undefined;
  }

  #isTaken(drafts: readonly Draft[]): boolean {
    return drafts.some((draft) => touches(draft).creates.some((id) => this.#reserved.has(id) || this.log.byId.has(id)));
  }
}

const SPANS = 64;
/** The number of tokens before the kind in a subject: earpiece, store, log, project, agent. */
const KIND = 5;
