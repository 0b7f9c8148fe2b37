/**
 * A channel queues the notifications of one subscriber for one address. The first event of a key is queued at once. Later events
 * of the key within `foldMs`, unless they are critical, are held back and counted for at most this time, and then queued. The
 * inbox usually folds the queued events into the first notification. In a storm (more different open events than a limit),
 * further events are only counted. `ordered-writer.ts` defines the order of all writes.
 */
import type { Address } from '../core/address.ts';
import { keepConflict, type EarpieceError } from '../core/errors.ts';
import type { Event, Handled } from '../core/event.ts';
import type { Item } from '../core/items.ts';
import type { Queued } from '../inbox/index.ts';
import { DETAILS, Fold } from './fold.ts';
import { levelFor, repeated, shape, shapeRest, type Shaped } from './shape.ts';
import { shortName, Storm, type Counted, type Detail, type Tally } from './storm.ts';
import type { Subscriber } from './subscriber.ts';
import { byClock, detailOfEvent, recentBy, type Logged, type RecentDetails } from './recent-details.ts';
import type { Holder, OrderedWriter, Outlet } from './ordered-writer.ts';

export type ChannelDeps = {
  readonly address: Address;
  readonly writer: OrderedWriter;
  readonly queue: (shaped: Shaped) => Promise<Queued | Skipped>;
  readonly withdraw: (key: string, reason: string) => Promise<readonly string[]>;
  /** Reads the open notifications of the subscriber for this address. */
  readonly open: () => Promise<readonly Item[]>;
  /**
   * Reads the notifications of the subscriber that any process queued for this address at or after `since` (epoch ms), newest
   * first.
   */
  readonly lately: (since: number) => Promise<readonly Logged[]>;
  /**
   * Returns the id of the key's newest open notification, if it was never offered and waits for no time, tool or number of turns.
   */
  readonly undelivered: (key: string) => Promise<string | undefined>;
  /** Returns the event as the log keeps it, with secrets redacted. */
  readonly redacted: (event: Event) => Event;
  /** Reads, from the open notifications of all processes, how many events of each key are only counted. */
  readonly counted: () => Promise<Counted>;
  /** Subtracts events whose state has ended from the counts in the open notifications of all processes. */
  readonly recount: (over: Counted) => Promise<void>;
  /** Tells the bus that a withdrawal may have made `dueAt` earlier. */
  readonly wake: (channel: Channel) => void;
  readonly foldMs: number;
  readonly now: () => Moment;
};

export type Skipped = { readonly kind: 'skipped'; readonly because: string };

/** The state of one key. `leadTick`: the start of the current fold. `recent`: the details that this process queued recently. */
type Key = { leadTick: number; readonly recent: RecentDetails; waiting: Fold | undefined };

/** Counted events whose state has ended. `done` resolves when the log no longer counts these events. */
type Over = { readonly counted: Map<string, number>; readonly done: PromiseWithResolvers<void> };

/** A point in time. `at`: the store's time, epoch ms. `tick`: monotonic ms, for the fold. */
export type Moment = { readonly at: number; readonly tick: number };

/**
 * The maximum number of different events that may be open at the same time, for a subscriber with `windowMs` 0. With a longer
 * window, the limit is `maxSize`. Errors have the limit `BURST_OF_ERRORS`. Events above the limit are only counted.
 */
const BURST_OF_SINGLES = 20;
const BURST_OF_ERRORS = 100;
const isUrgent = ({ severity }: Event): boolean => severity === 'error' || severity === 'critical';

/** The maximum share of time that is spent reading recent notifications in the log. */
const READING = 1 / 20;

export class Channel implements Holder {
  readonly subscriber: Subscriber;
  readonly address: Address;
  readonly #deps: ChannelDeps;
  readonly #keys = new Map<string, Key>();
  readonly #burst: number;
  /** The number of different events that may be queued before the open notifications are counted again. */
  #free: { urgent: number; other: number };
  #storm: Storm | undefined;
  /** The counts of storms in the log, and the tick at which they were read. */
  #counted: { readonly tick: number; readonly counted: Counted } | undefined;
  /** Counted events whose state has ended and that the log still counts. */
  #over: Over | undefined;
  /** The details that any process queued recently, from the log. The log is read again after `#readTick`. */
  #lately = new Map<string, RecentDetails>();
  #readTick = Number.NEGATIVE_INFINITY;
  readonly #outlet: Outlet;
  /** The ticks of the last activity, and of the next flush. */
  usedAt: number;
  dueAt = Number.POSITIVE_INFINITY;

  constructor(subscriber: Subscriber, deps: ChannelDeps, tick: number) {
    this.subscriber = subscriber;
    this.address = deps.address;
    this.#deps = deps;
    this.#outlet = deps.writer.outlet(this);
    const { windowMs, maxSize } = subscriber.batching;
    this.#burst = windowMs === 0 ? BURST_OF_SINGLES : maxSize;
    this.#free = { urgent: BURST_OF_ERRORS, other: this.#burst };
    this.usedAt = tick;
  }

  get pending(): boolean {
    return this.#outlet.isWriting || this.dueAt < Number.POSITIVE_INFINITY;
  }

  receive(event: Event, key: string | undefined, now: Moment): Promise<Handled> {
    this.usedAt = now.tick;
    if (levelFor(this.subscriber, event) !== 'critical') {
      const known = key === undefined ? undefined : this.#keys.get(key);
      if (key !== undefined && known !== undefined && now.tick - known.leadTick < this.#deps.foldMs)
        return this.#wait(known, key, event);
      // An event of a recently queued key takes no free place: the event is folded into the key's notification, or supersedes
      // this notification.
      const behindOthers = key !== undefined && this.#storm?.details.has(key);
      if (behindOthers || (known === undefined && !this.#mayQueue(event))) return this.#count(event, key, now.tick);
    }
    // An earlier event of the key that is still held back is queued first.
    if (key !== undefined && this.heldBack(key) !== undefined) this.putInLine(key);
    return this.#begin({ event, count: 1 }, key, now);
  }

  heldBack(key: string): number | undefined {
    return this.#keys.get(key)?.waiting?.last ?? this.#storm?.details.get(key)?.last;
  }

  putInLine(key: string): void {
    const now = this.#deps.now();
    const known = this.#keys.get(key);
    if (known?.waiting !== undefined) this.#writeWaiting(key, known, now);
    const counted = this.#storm?.takeOut(key);
    if (counted === undefined) return;
    this.#outlet.release(key);
    const begun = this.#begin(counted, key, now);
    // The rejection is ignored here, because the write of the storm reports the failure to the emitter.
    begun.catch(() => {});
    this.#storm?.before.push(begun);
  }

  /** Ends the state of a key: open notifications are withdrawn, counted events are subtracted, and held events are dropped. */
  withdraw(key: string, reason: string, now: Moment): Promise<Handled> {
    this.usedAt = now.tick;
    const known = this.#keys.get(key);
    this.#keys.delete(key);
    this.#storm?.takeBack(key);
    this.#outlet.release(key);
    // Other channels may hold back earlier events of the key. These events are written first, so that they are withdrawn too.
    this.#outlet.overtake(key);
    const { id } = this.subscriber;
    known?.waiting?.done.resolve({ subscriber: id, kind: 'skipped', because: `withdrawn: ${reason}` });
    const written = this.#outlet.write([key], async () => {
      const ids = await this.#deps.withdraw(key, reason);
      // The state has ended, so the same event counts as new from now on.
      this.#lately.delete(key);
      this.#keys.get(key)?.recent.clear();
      return { ids, counted: await this.#isOver(shortName(key)) };
    });
    return written.then(async ({ ids, counted }) => {
      await counted?.done;
      return { subscriber: id, kind: 'withdrew', ids };
    });
  }

  /** Subtracts the key's events from the counts in the log, after a short delay and together with other keys. */
  async #isOver(name: string): Promise<{ readonly done: Promise<void> } | undefined> {
    const { tick } = this.#deps.now();
    if (this.#counted === undefined || tick - this.#counted.tick > this.#deps.foldMs)
      this.#counted = { tick, counted: await this.#deps.counted() };
    const count = this.#counted.counted.get(name);
    if (count === undefined) return undefined;
    const over = (this.#over ??= { counted: new Map<string, number>(), done: Promise.withResolvers<void>() });
    over.counted.set(name, count);
    this.dueAt = Math.min(this.dueAt, tick + this.#deps.foldMs);
    this.#deps.wake(this);
    // The promise is wrapped in an object, because an async function that returns a promise also waits for this promise.
    return { done: over.done.promise };
  }

  /** Writes all due events. With `all`, writes every held event. Resolves when each write is done or has failed. */
  async flush(now: Moment, all = false): Promise<void> {
    const isDue = all || now.tick >= this.dueAt;
    if (isDue) {
      this.dueAt = Number.POSITIVE_INFINITY;
      this.#forget(now);
      for (const [key, known] of this.#keys) {
        const due = known.leadTick + this.#deps.foldMs;
        if (known.waiting !== undefined && (all || now.tick >= due)) this.#writeWaiting(key, known, now);
        else if (known.waiting !== undefined) this.dueAt = Math.min(this.dueAt, due);
      }
      if (this.#storm) this.#writeStorm(this.#storm, now);
    }
    await this.#outlet.written();
    if (!isDue || this.#over === undefined) return;
    // All withdrawals in line are now written, so `#over` has all their counted events.
    this.#countAnew(this.#over);
    if (this.#storm === undefined) this.dueAt = this.#foldsUntil();
    await this.#outlet.written();
  }

  /** Returns the tick at which the first fold with waiting events ends. Infinity if no events wait. */
  #foldsUntil(): number {
    let due = Number.POSITIVE_INFINITY;
    for (const { waiting, leadTick } of this.#keys.values())
      if (waiting !== undefined) due = Math.min(due, leadTick + this.#deps.foldMs);
    return due;
  }

  /** Drops keys that can no longer fold an event or suppress a repetition. */
  #forget(now: Moment): void {
    const keptMs = Math.max(this.#deps.foldMs, this.subscriber.batching.dedupeWindowMs);
    for (const [key, { waiting, leadTick }] of this.#keys)
      if (waiting === undefined && now.tick - leadTick > keptMs) this.#keys.delete(key);
  }

  /** Queues an event and begins a fold of its key. A failed or skipped event does not count as queued. */
  #begin(detail: Detail, key: string | undefined, now: Moment, before?: number): Promise<Handled> {
    const known = key === undefined ? undefined : this.#lead(key, now);
    if (key !== undefined) this.#outlet.overtake(key, before);
    return this.#outlet.write(key === undefined ? [] : [key], async () => {
      let handled: Handled | undefined;
      try {
        handled = await this.#queue(detail, { key, known }, now);
        return handled;
      } finally {
        if (handled === undefined || handled.kind === 'skipped') known?.recent.clear();
      }
    });
  }

  /** Begins a fold. Later events of the key are held back from now on. */
  #lead(key: string, now: Moment): Key {
    if (this.#keys.size >= KEYS) this.#forget(now);
    const known = this.#keys.get(key) ?? { leadTick: now.tick, recent: new Map<string, number>(), waiting: undefined };
    this.#keys.set(key, known);
    known.leadTick = now.tick;
    return known;
  }

  /**
   * Queues an event. A repetition within the dedupe window is delivered at the end of the window, and does not interrupt again.
   */
  async #queue(
    { event, count }: Detail,
    { key, known }: { readonly key: string | undefined; readonly known: Key | undefined },
    now: Moment,
  ): Promise<Handled> {
    const shaped = shape(this.subscriber, event, key);
    const input = count === 1 ? shaped.input : { ...shaped.input, count };
    if (key === undefined || known === undefined) return this.#handledAs(await this.#deps.queue({ ...shaped, input }));
    const detail = detailOfEvent(event);
    const { dedupeWindowMs } = this.subscriber.batching;
    const { recent } = known;
    const isOver = (at: number | undefined): boolean => at === undefined || at + dedupeWindowMs <= now.at;
    let first = recent.get(detail);
    // The log is read only if this process itself has not queued the detail recently.
    if (dedupeWindowMs > 0 && isOver(first)) first = (await this.#queuedByAny(event, key, now)) ?? first;
    if (!isOver(first)) {
      // A waiting repetition must not supersede an equal state that is not delivered yet.
      const undelivered = (event.supersede ?? this.subscriber.output.supersede) ? await this.#deps.undelivered(key) : undefined;
      if (undelivered !== undefined)
        return { subscriber: this.subscriber.id, kind: undelivered === input.id ? 'duplicate' : 'folded', id: undelivered };
      recent.set(detail, first ?? now.at);
      return this.#handledAs(await this.#deps.queue(repeated({ ...shaped, input }, (first ?? 0) + dedupeWindowMs)));
    }
    if (this.subscriber.output.supersede) {
      recent.clear();
      this.#lately.delete(key);
    }
    if (recent.size >= DETAILS) recent.delete(recent.keys().next().value ?? '');
    recent.set(detail, now.at);
    return this.#handledAs(await this.#deps.queue({ ...shaped, input }));
  }

  /**
   * Returns the time at which a process queued the same detail, according to the log. Undefined if no process queued the detail
   * recently, or if the log cannot be read.
   */
  async #queuedByAny(event: Event, key: string, now: Moment): Promise<number | undefined> {
    if (now.tick >= this.#readTick) {
      const began = performance.now();
      const items = await this.#deps.lately(now.at - this.subscriber.batching.dedupeWindowMs).catch(() => []);
      this.#lately = recentBy(this.subscriber, byClock(items, now.at));
      this.#readTick = now.tick + Math.max(this.#deps.foldMs, (performance.now() - began) / READING);
    }
    return this.#lately.get(key)?.get(detailOfEvent(this.#deps.redacted(event)));
  }

  #wait(known: Key, key: string, event: Event): Promise<Handled> {
    if (known.waiting === undefined) this.#outlet.hold(key);
    const waiting = (known.waiting ??= new Fold());
    const supersede = event.supersede ?? this.subscriber.output.supersede;
    waiting.add(event, { last: this.#deps.writer.arrived(), supersede });
    this.dueAt = Math.min(this.dueAt, known.leadTick + this.#deps.foldMs);
    if (waiting.events === 1)
      this.#soon(
        () => this.#keys.get(key)?.waiting === waiting && waiting.events === 1,
        () => this.#writeWaiting(key, known, this.#deps.now()),
      );
    return waiting.done.promise;
  }

  /**
   * Writes an event that is still alone after one iteration of the event loop, unless another write is running. Without this
   * method, the fold window would delay a caller that awaits each `emit`.
   */
  #soon(isAlone: () => boolean, write: () => void): void {
    setImmediate(() => {
      if (this.#outlet.isWriting || !isAlone()) return;
      write();
      if (this.#storm === undefined && this.#over === undefined) this.dueAt = this.#foldsUntil();
    });
  }

  #writeWaiting(key: string, known: Key, now: Moment): void {
    const { waiting } = known;
    if (waiting === undefined) return;
    known.waiting = undefined;
    this.#outlet.release(key);
    const begun = [...waiting.details.values()].map((detail) => this.#begin(detail, key, now, waiting.last));
    Promise.all(begun).then((handled) => {
      const last = handled.at(-1);
      if (last) waiting.done.resolve(last);
    }, waiting.done.reject);
  }

  #count(event: Event, key: string | undefined, tick: number): Promise<Handled> {
    const storm = (this.#storm ??= new Storm(event, this.#burst));
    if (storm.count(event, key, this.#deps.writer.arrived()) && key !== undefined) this.#outlet.hold(key);
    this.dueAt = Math.min(this.dueAt, tick + this.#deps.foldMs);
    if (storm.events === 1)
      this.#soon(
        () => this.#storm === storm && storm.events === 1,
        () => this.#writeStorm(storm, this.#deps.now()),
      );
    return storm.done.promise;
  }

  /** Queues as many listed events of the storm as the limit allows, and counts the other events. */
  #writeStorm({ details, more, last, before, done }: Storm, now: Moment): void {
    this.#storm = undefined;
    const keys = [...details.values()].flatMap(({ key }) => (key === undefined ? [] : [key]));
    for (const { key, last: newest } of details.values()) {
      if (key === undefined) continue;
      this.#outlet.release(key);
      this.#outlet.overtake(key, newest);
    }
    const written = this.#outlet.write(keys, async () => {
      const open = (await this.#deps.open()).filter((item) => !item.notification.subscriber?.rest).length;
      this.#free = { urgent: Math.max(0, BURST_OF_ERRORS - open), other: Math.max(0, this.#burst - open) };
      let handled: Handled | undefined;
      const conflicts: EarpieceError[] = [];
      for (const { event, count, key } of details.values()) {
        if (!this.#mayQueue(event)) {
          more.add(key, count);
          continue;
        }
        const known = key === undefined ? undefined : this.#lead(key, now);
        handled = (await this.#queue({ event, count }, { key, known }, now).catch(keepConflict(conflicts))) ?? handled;
      }
      if (more.total > 0) handled = await this.#queueRest(last, more);
      if (conflicts[0] !== undefined) throw conflicts[0];
      return handled;
    });
    const nothing: Handled = { subscriber: this.subscriber.id, kind: 'skipped', because: 'nothing left' };
    Promise.all([...before, written]).then(
      (handled) => done.resolve(handled.findLast((each) => each !== undefined) ?? nothing),
      done.reject,
    );
  }

  async #queueRest(event: Event, more: Tally): Promise<Handled> {
    this.#counted = undefined;
    return this.#handledAs(await this.#deps.queue(shapeRest(this.subscriber, event, more)));
  }

  /** Updates the counts in the log: subtracts the events whose state has ended. */
  #countAnew(over: Over): void {
    this.#over = undefined;
    const written = this.#outlet.write([], async () => {
      this.#counted = undefined;
      await this.#deps.recount(over.counted);
    });
    written.then(over.done.resolve, over.done.reject);
  }

  /** Takes one of the free places that the last count of open notifications left. Returns false if no place is left. */
  #mayQueue(event: Event): boolean {
    const kind = isUrgent(event) ? 'urgent' : 'other';
    if (this.#free[kind] < 1) return false;
    this.#free[kind]--;
    return true;
  }

  #handledAs(queued: Queued | Skipped): Handled {
    const { id: subscriber } = this.subscriber;
    if (queued.kind === 'skipped') return { subscriber, ...queued };
    return { subscriber, kind: queued.kind, id: queued.kind === 'folded' ? queued.into : queued.id };
  }
}

/** Above this number of keys, the channel drops keys that it no longer needs. */
const KEYS = 1_000;
