/**
 * What one subscriber makes for one address. The first event of a key is queued at once; what follows within `foldMs` is
 * counted and queued after that, where the inbox folds it onto the first. Storms: beyond so many different things that are
 * open at once the others are only counted. What is written, is written in the order of the events.
 */
import { messageOf, type Event, type Heard } from '../core/event.ts';
import type { Queued } from '../inbox/index.ts';
import { levelFor, shape, shapeRest, type Shaped } from './shape.ts';
import type { Subscriber } from './subscriber.ts';

export type ChannelDeps = {
  readonly queue: (shaped: Shaped) => Promise<Queued | Skipped>;
  readonly withdraw: (key: string, reason: string) => Promise<readonly string[]>;
  /** How many notifications of the subscriber are open there. */
  readonly countOpen: () => Promise<number>;
  readonly foldMs: number;
};

export type Skipped = { readonly kind: 'skipped'; readonly because: string };

/** One different detail of a key, counted. */
type Detail = { event: Event; count: number };

/** What waits for the end of the fold. `done`: what became of it, for all who emitted it. */
type Waiting = { readonly details: Map<string, Detail>; readonly done: PromiseWithResolvers<Heard> };

/** `leadTick`: when the fold of now began. `told`: each different detail of late and when it was queued. */
type Key = { leadTick: number; readonly told: Map<string, number>; waiting: Waiting | undefined };

/** `at`: the store's time, epoch ms. `tick`: ms that only run forward, for the fold. */
export type Moment = { readonly at: number; readonly tick: number };

/** What there was too much of at once. `more`: beyond the details. */
type Storm = {
  readonly details: Map<string, Detail & { readonly key: string | undefined }>;
  more: number;
  last: Event;
  readonly done: PromiseWithResolvers<Heard>;
};

/** So many different things stay open at once, beside one line's worth; the rest is counted. Of errors more are listed. */
const BURST_OF_SINGLES = 20;
const BURST_OF_ERRORS = 100;
const isUrgent = ({ severity }: Event): boolean => severity === 'error' || severity === 'critical';

export class Channel {
  readonly subscriber: Subscriber;
  readonly #deps: ChannelDeps;
  readonly #keys = new Map<string, Key>();
  readonly #burst: number;
  /** How many different things may still be queued before it is looked how many are open. */
  #free: { urgent: number; other: number };
  #storm: Storm | undefined;
  #tail: Promise<unknown> = Promise.resolve();
  #writing = 0;
  /** When something last happened, and when something has to be flushed; ticks. */
  usedAt: number;
  dueAt = Number.POSITIVE_INFINITY;

  constructor(subscriber: Subscriber, deps: ChannelDeps, tick: number) {
    this.subscriber = subscriber;
    this.#deps = deps;
    const { windowMs, maxSize } = subscriber.batching;
    this.#burst = windowMs === 0 ? BURST_OF_SINGLES : maxSize;
    this.#free = { urgent: BURST_OF_ERRORS, other: this.#burst };
    this.usedAt = tick;
  }

  get pending(): boolean {
    return this.#writing > 0 || this.dueAt < Number.POSITIVE_INFINITY;
  }

  hear(event: Event, key: string | undefined, now: Moment): Promise<Heard> {
    this.usedAt = now.tick;
    if (levelFor(this.subscriber, event) === 'critical') return this.#tell({ event, count: 1 }, key, now);
    const known = key === undefined ? undefined : this.#keys.get(key);
    if (known !== undefined && now.tick - known.leadTick < this.#deps.foldMs) return this.#wait(known, event);
    // What is one thing with what was told of late folds onto it, or is its newer state: it takes no room of its own.
    if (known === undefined && !this.#mayQueue(event)) return this.#count(event, key, now.tick);
    return this.#tell({ event, count: 1 }, key, now);
  }

  /** The state is gone: what is open is taken back, what waits is forgotten. */
  withdraw(key: string, reason: string, now: Moment): Promise<Heard> {
    this.usedAt = now.tick;
    const known = this.#keys.get(key);
    this.#keys.delete(key);
    const { id } = this.subscriber;
    known?.waiting?.done.resolve({ subscriber: id, kind: 'skipped', because: `taken back: ${reason}` });
    return this.#write(async () => ({ subscriber: id, kind: 'withdrew', ids: await this.#deps.withdraw(key, reason) }));
  }

  /** Writes what is due; with `all` also what is not. Resolves when everything is written, whatever became of it. */
  async flush(now: Moment, all = false): Promise<void> {
    if (all || now.tick >= this.dueAt) {
      this.dueAt = Number.POSITIVE_INFINITY;
      this.#forget(now);
      for (const [key, known] of this.#keys) {
        const due = known.leadTick + this.#deps.foldMs;
        if (known.waiting !== undefined && (all || now.tick >= due)) this.#writeWaiting(key, known, now);
        else if (known.waiting !== undefined) this.dueAt = Math.min(this.dueAt, due);
      }
      if (this.#storm) this.#writeStorm(this.#storm, now);
    }
    await this.#tail;
  }

  /** Keys that neither fold nor repeat any more. */
  #forget(now: Moment): void {
    const keptMs = Math.max(this.#deps.foldMs, this.subscriber.batching.dedupeWindowMs);
    for (const [key, { waiting, leadTick }] of this.#keys)
      if (waiting === undefined && now.tick - leadTick > keptMs) this.#keys.delete(key);
  }

  /** Queues it, and begins a fold of its key. What was not queued was not told. */
  #tell({ event, count }: Detail, key: string | undefined, now: Moment): Promise<Heard> {
    const shaped = this.#shaped({ event, count }, key, now);
    return this.#write(async () => {
      let heard: Heard | undefined;
      try {
        heard = this.#heard(await this.#deps.queue(shaped));
        return heard;
      } finally {
        if (key !== undefined && (heard === undefined || heard.kind === 'skipped')) this.#keys.get(key)?.told.clear();
      }
    });
  }

  /** The same again within the dedupe window is told when that is over, and interrupts nobody a second time. */
  #shaped({ event, count }: Detail, key: string | undefined, now: Moment): Shaped {
    const shaped = shape(this.subscriber, event, key);
    const input = count === 1 ? shaped.input : { ...shaped.input, count };
    if (key === undefined) return { ...shaped, input };
    if (this.#keys.size >= KEYS) this.#forget(now);
    const known = this.#keys.get(key) ?? { leadTick: now.tick, told: new Map<string, number>(), waiting: undefined };
    this.#keys.set(key, known);
    known.leadTick = now.tick;
    const detail = detailOf(event);
    const told = known.told.get(detail);
    const overAt = told === undefined ? now.at : told + this.subscriber.batching.dedupeWindowMs;
    if (overAt <= now.at) {
      if (known.told.size >= DETAILS) known.told.delete(known.told.keys().next().value ?? '');
      known.told.set(detail, now.at);
      return { ...shaped, input };
    }
    const level = input.level === 'critical' ? { level: 'error' as const } : {};
    return { ...shaped, input: { ...input, ...level, deliver: { at: overAt } } };
  }

  #wait(known: Key, event: Event): Promise<Heard> {
    const waiting = (known.waiting ??= { details: new Map(), done: Promise.withResolvers<Heard>() });
    if (event.supersede ?? this.subscriber.output.supersede) waiting.details.clear();
    const text = detailOf(event);
    const detail = waiting.details.get(text) ?? (waiting.details.size < DETAILS ? undefined : lastOf(waiting.details));
    if (detail) {
      detail.count++;
      detail.event = event;
    } else waiting.details.set(text, { event, count: 1 });
    this.dueAt = Math.min(this.dueAt, known.leadTick + this.#deps.foldMs);
    return waiting.done.promise;
  }

  #writeWaiting(key: string, known: Key, now: Moment): void {
    const { waiting } = known;
    if (waiting === undefined) return;
    known.waiting = undefined;
    const told = [...waiting.details.values()].map((detail) => this.#tell(detail, key, now));
    Promise.all(told).then((heard) => {
      const last = heard.at(-1);
      if (last) waiting.done.resolve(last);
    }, waiting.done.reject);
  }

  #count(event: Event, key: string | undefined, tick: number): Promise<Heard> {
    const storm = (this.#storm ??= { details: new Map(), more: 0, last: event, done: Promise.withResolvers<Heard>() });
    storm.last = event;
    const name = key ?? event.id;
    const detail = storm.details.get(name);
    if (detail) {
      detail.count++;
      detail.event = event;
    } else if (storm.details.size < this.#burst) storm.details.set(name, { event, count: 1, key });
    else storm.more++;
    this.dueAt = Math.min(this.dueAt, tick + this.#deps.foldMs);
    return storm.done.promise;
  }

  /** As many as have room in the list are queued after all; the others are counted. */
  #writeStorm({ details, more, last, done }: Storm, now: Moment): void {
    this.#storm = undefined;
    const written = this.#write(async () => {
      const open = await this.#deps.countOpen();
      this.#free = { urgent: Math.max(0, BURST_OF_ERRORS - open), other: Math.max(0, this.#burst - open) };
      let heard: Heard | undefined;
      let counted = more;
      for (const { event, count, key } of details.values()) {
        if (!this.#mayQueue(event)) {
          counted += count;
          continue;
        }
        heard = this.#heard(await this.#deps.queue(this.#shaped({ event, count }, key, now)));
      }
      if (counted > 0) heard = this.#heard(await this.#deps.queue(shapeRest(this.subscriber, last, counted)));
      return heard;
    });
    written.then(
      (heard) => done.resolve(heard ?? { subscriber: this.subscriber.id, kind: 'skipped', because: 'nothing left' }),
      done.reject,
    );
  }

  /** False when as many as are listed at once were queued since it was last seen how many are still open. */
  #mayQueue(event: Event): boolean {
    const kind = isUrgent(event) ? 'urgent' : 'other';
    if (this.#free[kind] < 1) return false;
    this.#free[kind]--;
    return true;
  }

  #heard(queued: Queued | Skipped): Heard {
    const { id: subscriber } = this.subscriber;
    if (queued.kind === 'skipped') return { subscriber, ...queued };
    return { subscriber, kind: queued.kind, id: queued.kind === 'folded' ? queued.into : queued.id };
  }

  #write<T>(work: () => Promise<T>): Promise<T> {
    this.#writing++;
    const written = this.#tail.then(work).finally(() => void this.#writing--);
    this.#tail = written.then(
      () => undefined,
      () => undefined,
    );
    return written;
  }
}

/** With so many keys it is looked which of them can be forgotten. */
const KEYS = 1_000;

/** Different details of one key that one fold keeps; the inbox keeps no more than that either. */
const DETAILS = 50;

const lastOf = (details: ReadonlyMap<string, Detail>): Detail | undefined => [...details.values()].at(-1);

/** What differs from call to call without being news: failures that read the same are one detail. */
const VOLATILE: ReadonlySet<string> = new Set(['call_id', 'duration_ms', 'retry_count', 'timestamp']);

const detailOf = (event: Event): string =>
  `${messageOf(event)}\n${JSON.stringify(event.data, (name, value: unknown) => (VOLATILE.has(name) ? undefined : value))}`;
