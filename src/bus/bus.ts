/**
 * Turns events into queued notifications. Each event reaches the subscribers that listen to its type, in the project of its
 * subject. The subscribers' notifications are queued for that subject only. An inbox usually has one bus. The buses of different
 * processes share only the store.
 */
import { parseAddress, type Address } from '../core/address.ts';
import { EarpieceError } from '../core/errors.ts';
import { makeEvent, type Emitted, type Emitter, type Event, type EventInput, type Handled } from '../core/event.ts';
import type { Json } from '../core/json.ts';
import { redactedJson, redactor, type Inbox } from '../inbox/index.ts';
import { Channel, type Moment } from './channel.ts';
import { InLog } from './in-log.ts';
import { keyOf, TypeIndex, excludedBecause } from './matching.ts';
import { OrderedWriter } from './ordered-writer.ts';
import { previewOf, type Preview } from './preview.ts';
import { restKeyOf } from './shape.ts';
import type { Subscriber, SubscriberSet, SubscriberSource, Template } from './subscriber.ts';
import type { TemplateEngine } from './templates/engine.ts';

export type BusDeps = {
  readonly inbox: Inbox;
  readonly subscribers: SubscriberSource;
  /**
   * Reads the ids of the subscribers that are off in a project. The bus calls this function each time before it queues a
   * notification of a subscriber that is not core. Default: all subscribers are on.
   */
  readonly disabled?: (project: string) => Promise<ReadonlySet<string>>;
  /** Stores a template's text, so that any renderer finds the text by its hash. Default: templates are not stored. */
  readonly keep?: (template: Template) => Promise<void>;
  /** Evaluates a condition. Default: a subscriber with a condition gets no events. */
  readonly evaluate?: (
    expression: string,
    context: Json,
  ) => Promise<{ readonly kind: 'value'; readonly value: boolean } | { readonly kind: 'failed'; readonly reason: string }>;
  /** Renders previews. Without this engine, a preview shows the event's own message. */
  readonly templates?: Pick<TemplateEngine, 'render'>;
  /** How long later events of a key are held back and counted after an event of the key was queued. Default 100 ms. */
  readonly foldMs?: number;
  /** Gets one line when a condition fails. An equal line is reported only once. */
  readonly onTrouble?: (line: string) => void;
};

const FOLD_MS = 100;
/** The number of recent event ids that the bus remembers. A second event with the same id, source and subject is ignored. */
const IDS_KEPT = 10_000;
/**
 * The maximum length of a chain of causes. In such a chain, an agent's event leads to a notification, and the notification leads
 * to another event of an agent.
 */
const MAX_DEPTH = 4;
const CHANNEL_IDLE_MS = 60_000;

type Put = {
  readonly subscriber: Subscriber;
  readonly event: Event;
  readonly address: Address;
  readonly key: string | undefined;
};

export function createBus(deps: BusDeps): Bus {
  return new Bus(deps);
}

export class Bus implements Emitter, AsyncDisposable {
  readonly #deps: BusDeps;
  readonly #inbox: Inbox;
  readonly #channels = new Map<string, Channel>();
  readonly #indexes = new WeakMap<SubscriberSet, TypeIndex>();
  readonly #seen = new Set<string>();
  readonly #kept = new Set<string>();
  readonly #troubles = new Set<string>();
  readonly #writer = new OrderedWriter();
  readonly #subjects = new Map<string, Address>();
  /** The prefix of the ids that this bus gives to events without an id. */
  readonly #name: string;
  #emitted = 0;
  #sweepAt = 1_024;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(deps: BusDeps) {
    this.#deps = deps;
    this.#inbox = deps.inbox;
    this.#name = deps.inbox.ids.make('e');
    this.#inbox.holdsBack(this);
  }

  /** Returns the current subscribers of a project, and the problems of their files. */
  subscribers(project: string): SubscriberSet {
    return this.#deps.subscribers.of(project);
  }

  /** Previews the notification that a subscriber would make of a sample event. Queues nothing. */
  preview(subscriber: Subscriber, subject: string): Promise<Preview> {
    return previewOf(subscriber, this.#deps.templates, { now: this.#inbox.store.now(), subject });
  }

  /** Whether some notifications of emitted events are not queued yet. The inbox checks `pending` before each carrier. */
  get pending(): boolean {
    if (this.#writer.isAsking) return true;
    for (const channel of this.#channels.values()) if (channel.pending) return true;
    return false;
  }

  async emit(input: EventInput): Promise<Emitted> {
    if (this.#closed) throw new EarpieceError('bad_event', 'this bus is closed; to emit, call openEarpiece() again');
    const now = this.#now();
    const event = makeEvent(input, { id: input.id ?? `${this.#name}.${++this.#emitted}`, now: now.at });
    const seen = input.id === undefined ? undefined : `${event.source}\n${event.id}\n${event.subject}`;
    if (seen !== undefined) {
      if (this.#seen.has(seen))
        return { event, heard: [{ subscriber: '*', kind: 'skipped', because: 'this event was seen before' }] };
      if (this.#seen.size >= IDS_KEPT) this.#seen.delete(this.#seen.values().next().value ?? '');
      this.#seen.add(seen);
    }
    try {
      return { event, heard: await this.#handle(event, now) };
    } catch (error) {
      // The caller may send a failed event again.
      if (seen !== undefined) this.#seen.delete(seen);
      throw error;
    }
  }

  async flush(): Promise<void> {
    // This wait has no time limit, because the worker that evaluates conditions has its own deadline.
    await this.#writer.answered();
    const now = this.#now();
    await Promise.all([...this.#channels.values()].map((channel) => channel.flush(now, true)));
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.flush();
    clearTimeout(this.#timer);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #handle(event: Event, now: Moment): Promise<readonly Handled[]> | readonly Handled[] {
    const address = this.#addressOf(event.subject);
    if ((event.origin?.depth ?? 0) > MAX_DEPTH)
      return [{ subscriber: '*', kind: 'skipped', because: `the event ends a chain of more than ${MAX_DEPTH} causes` }];
    const index = this.#indexOf(this.#deps.subscribers.of(address.project));
    const taking = index.withdrawing(event.type);
    const listening = index.listening(event.type);
    if (taking.length === 0 && listening.length === 1) {
      const only = listening[0] as Subscriber;
      return this.#offer(only, event, address, now).then((handled) => [handled]);
    }
    // Withdrawals are started first, so that a new notification with the same key is not withdrawn. No `await` comes before any
    // of these calls, so that the next event follows all effects of this event.
    const taken = taking.map((subscriber) => this.#takeBack(subscriber, event, address, now));
    const handled = listening.map((subscriber) => this.#offer(subscriber, event, address, now));
    return Promise.all([...taken, ...handled]);
  }

  #offer(subscriber: Subscriber, event: Event, address: Address, now: Moment): Promise<Handled> {
    const because = excludedBecause(subscriber, event);
    if (because !== undefined) return Promise.resolve({ subscriber: subscriber.id, kind: 'skipped', because });
    const key = keyOf(subscriber, event);
    // Usually, no condition is being evaluated, so the event need not wait for `whenAnswered`.
    if (subscriber.condition === undefined && !this.#writer.isAsking) return this.#put({ subscriber, event, address, key }, now);
    if (subscriber.condition === undefined)
      return this.#writer.whenAnswered({ address, key }, undefined, (_, waited) =>
        this.#put({ subscriber, event, address, key }, waited ? this.#now() : now),
      );
    const asked = this.#holds(subscriber, subscriber.condition.expression, event);
    return this.#writer.whenAnswered({ address, key }, asked, (why) =>
      why === undefined
        ? this.#put({ subscriber, event, address, key }, this.#now())
        : Promise.resolve<Handled>({ subscriber: subscriber.id, kind: 'skipped', because: why }),
    );
  }

  #put({ subscriber, event, address, key }: Put, now: Moment): Promise<Handled> {
    const channel = this.#channel(subscriber, event.subject, address, now);
    const handled = channel.receive(event, key, now);
    if (channel.dueAt < this.#timerAt) this.#wakeAt(channel.dueAt, now.tick);
    return handled;
  }

  /** Returns the reason why the condition excludes this event. Undefined if the condition is true. */
  async #holds(subscriber: Subscriber, expression: string, event: Event): Promise<string | undefined> {
    const { evaluate } = this.#deps;
    if (evaluate === undefined) return 'the subscriber has a condition, but this program cannot evaluate conditions';
    const { type, source, severity, data, subject, time, id } = event;
    const payload = data as Json;
    const context = {
      type,
      source,
      severity,
      payload,
      event: { id, type, source, severity, subject, timestamp: new Date(time).toISOString(), payload },
    };
    const result = await evaluate(expression, context);
    if (result.kind === 'value') return result.value ? undefined : `the condition is not true: ${expression}`;
    const because = `the condition failed: ${result.reason}`;
    this.#trouble(`subscriber ${subscriber.id}: ${because}`);
    return because;
  }

  #takeBack(subscriber: Subscriber, event: Event, address: Address, now: Moment): Promise<Handled> {
    const key = keyOf(subscriber, event);
    if (key === undefined)
      return Promise.resolve({
        subscriber: subscriber.id,
        kind: 'skipped',
        because: 'the subscriber has no dedupe_key, which a withdrawal needs',
      });
    return this.#writer.whenAnswered({ address, key }, undefined, (_, waited) => {
      const at = waited ? this.#now() : now;
      const channel = this.#channel(subscriber, event.subject, address, at);
      const handled = channel.withdraw(key, event.type, at);
      if (channel.dueAt < this.#timerAt) this.#wakeAt(channel.dueAt, at.tick);
      return handled;
    });
  }

  #channel(subscriber: Subscriber, subject: string, address: Address, now: Moment): Channel {
    const name = `${subscriber.id}\n${subject}`;
    const known = this.#channels.get(name);
    // A changed subscriber gets a new channel. The old channel still writes its held events.
    if (known !== undefined && known.subscriber === subscriber) return known;
    if (known?.pending) this.#channels.set(`${name}\n${this.#inbox.ids.make('c')}`, known);
    if (this.#channels.size >= this.#sweepAt) this.#sweep(now.tick);
    const inLog = new InLog(this.#inbox, subscriber.id, address);
    const channel = new Channel(
      subscriber,
      {
        address,
        writer: this.#writer,
        now: () => this.#now(),
        queue: async ({ input, subscribed }) => {
          const disabled = subscriber.output.core ? undefined : await this.#deps.disabled?.(address.project);
          if (disabled?.has(subscriber.id)) return { kind: 'skipped', because: 'the subscriber is disabled' };
          const { template } = subscriber.output;
          if (template !== undefined && this.#deps.keep !== undefined && !this.#kept.has(template.hash)) {
            await this.#deps.keep(template);
            this.#kept.add(template.hash);
          }
          return this.#inbox.queue(address, input, subscribed);
        },
        withdraw: (key, reason) => inLog.withdraw(key, reason),
        open: () => inLog.open(),
        undelivered: (key) => inLog.undelivered(key),
        lately: (since) => inLog.lately(since),
        counted: async () => (subscriber.withdraw === undefined ? new Map() : inLog.counted(restKeyOf(subscriber))),
        recount: (over) => inLog.recount(restKeyOf(subscriber), over),
        wake: ({ dueAt }) => {
          if (dueAt < this.#timerAt) this.#wakeAt(dueAt, this.#now().tick);
        },
        redacted: (event) => {
          const { redact } = this.#inbox.policies.policy(address.project);
          if (redact.length === 0) return event;
          const clean = redactor(redact);
          const { message } = event;
          return {
            ...event,
            ...(message === undefined ? {} : { message: clean(message) }),
            data: redactedJson(event.data, clean) as Event['data'],
          };
        },
        foldMs: this.#deps.foldMs ?? FOLD_MS,
      },
      now.tick,
    );
    this.#channels.set(name, channel);
    return channel;
  }

  /**
   * Drops channels that were idle for 60 s. The bus calls this method at 1,024 channels, or, if that is more, at twice the number
   * of channels that the last sweep left.
   */
  #sweep(tick: number): void {
    for (const [name, channel] of this.#channels)
      if (!channel.pending && tick - channel.usedAt > CHANNEL_IDLE_MS) this.#channels.delete(name);
    this.#sweepAt = Math.max(1_024, this.#channels.size * 2);
  }

  #wakeAt(at: number, tick: number): void {
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, Math.ceil(at - tick)));
  }

  #wake(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = this.#now();
    let next = Number.POSITIVE_INFINITY;
    for (const channel of this.#channels.values()) {
      // The flush is not awaited, because the emitter's promise reports failures.
      if (channel.dueAt <= now.tick) void channel.flush(now);
      next = Math.min(next, channel.dueAt);
    }
    if (next < Number.POSITIVE_INFINITY) this.#wakeAt(next, now.tick);
  }

  #now(): Moment {
    return { at: this.#inbox.store.now(), tick: performance.now() };
  }

  #indexOf(set: SubscriberSet): TypeIndex {
    let index = this.#indexes.get(set);
    if (index === undefined) this.#indexes.set(set, (index = new TypeIndex(set)));
    return index;
  }

  #addressOf(subject: string): Address {
    const known = this.#subjects.get(subject);
    if (known !== undefined) return known;
    if (this.#subjects.size >= IDS_KEPT) this.#subjects.clear();
    const address = parseAddress(subject);
    this.#subjects.set(subject, address);
    return address;
  }

  #trouble(line: string): void {
    if (this.#troubles.has(line) || this.#troubles.size >= IDS_KEPT) return;
    this.#troubles.add(line);
    this.#deps.onTrouble?.(line);
  }
}
