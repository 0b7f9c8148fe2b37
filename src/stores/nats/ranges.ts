/** Reads several messages of a stream. Only the leader of the stream is asked, because another replica may lack messages. */
import type { ConsumerConfig, ConsumerInfo, JetStreamClient, JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Late } from '../insist.ts';
import type { Driver } from './driver.ts';

/**
 * The maximum length of a range that is read message by message. A longer range is read by a consumer. Making a consumer takes
 * some ms, and longer in a cluster.
 */
const NEAR = 128;
/** The number of messages of a range that are requested one after the other. The further messages are read in pages. */
const WALK = 4;
const PAGE = 1_000;
const BEHIND_MS = 10;
/**
 * The maximum number of tries to make a consumer on the leader. In a cluster of n replicas, one of n tries succeeds on average.
 */
const TRIES = 20;
/** A node that does not answer delays a try, so another try begins in parallel after this time. */
const HEDGE_MS = 150;
/** The time limit of a fetch. */
const FETCH_MS = 2_000;
const NANOS = 1_000_000;

export type Message = { readonly seq: number; readonly subject: string; readonly text: string };
export type Span = {
  readonly after: number;
  readonly upTo: number;
  readonly attempt?: <T>(work: () => Promise<T>) => Promise<T>;
  readonly subjectsOnly?: boolean;
};
/** A part of a range, and the start of the next part. */
type Step = { readonly messages: readonly Message[]; readonly next?: number };
/** The calls to the server that a read makes. */
export type Asking = {
  readonly driver: Pick<Driver, 'AckPolicy' | 'DeliverPolicy'>;
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly info: (stream: string, subjects?: string) => Promise<StreamInfo>;
  readonly last: (stream: string, subject: string) => Promise<Message | undefined>;
  readonly at: (stream: string, seq: number) => Promise<Message | undefined>;
  readonly next: (stream: string, subject: string, seq: number) => Promise<Message | undefined>;
};

export class Ranges {
  readonly #ask: Asking;

  constructor(ask: Asking) {
    this.#ask = ask;
  }

  /** Returns the messages of a subject, which may have wildcards, above position `after` and up to `upTo` (inclusive). */
  async range(stream: string, subject: string, after: number, upTo: number): Promise<Message[]> {
    const found: Message[] = [];
    for await (const page of this.pages(stream, subject, { after, upTo })) for (const message of page) found.push(message);
    return found;
  }

  /**
   * Like `range`, but yields one page after the other. `attempt` retries the calls that read one page. With `subjectsOnly`, texts
   * may be empty.
   */
  async *pages(
    stream: string,
    subject: string,
    { after, upTo, attempt = (work) => work(), subjectsOnly = false }: Span,
  ): AsyncIterable<readonly Message[]> {
    const first = await attempt(() => this.#walk(stream, subject, after, upTo));
    yield first.messages;
    for (let seen = first.next; seen !== undefined;) {
      const from = seen;
      const step = await attempt(() => this.#step(stream, subject, { after: from, upTo, subjectsOnly }));
      yield step.messages;
      seen = step.next;
    }
  }

  /** Requests the first messages of a range one after the other, because most ranges have only a few messages. */
  async #walk(stream: string, subject: string, after: number, upTo: number): Promise<Step> {
    const messages: Message[] = [];
    for (let seen = after; seen < upTo && messages.length < WALK;) {
      const message = await this.#ask.next(stream, subject, seen + 1);
      if (message === undefined || message.seq > upTo) return { messages };
      messages.push(message);
      seen = message.seq;
    }
    const last = messages.at(-1)?.seq ?? upTo;
    return last < upTo ? { messages, next: last } : { messages };
  }

  /** Reads one page. Returns its messages, and the start of the next page. */
  async #step(stream: string, subject: string, { after, upTo, subjectsOnly }: Omit<Required<Span>, 'attempt'>): Promise<Step> {
    if (upTo - after <= NEAR) return { messages: await this.#near(stream, subject, after, upTo) };
    const page = await this.#page(stream, subject, { after, subjectsOnly });
    const messages = page.filter(({ seq }) => seq <= upTo);
    const seen = page.at(-1)?.seq ?? after;
    if (seen >= upTo) return { messages };
    // A slow server sends a page in part, so a short page alone does not show the end.
    if (page.length < PAGE && ((await this.#ask.last(stream, subject))?.seq ?? 0) <= seen) return { messages };
    if (page.length === 0) await sleep(BEHIND_MS);
    return { messages, next: seen };
  }

  /** Returns at most `limit` messages after `after` and up to `head`, oldest first. The texts of these messages may be empty. */
  async subjects(
    stream: string,
    subject: string,
    { after, limit, head }: { readonly after: number; readonly limit: number; readonly head: number },
  ): Promise<Message[]> {
    const found: Message[] = [];
    for await (const page of this.pages(stream, subject, { after, upTo: head, subjectsOnly: true })) {
      found.push(...page);
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  /** Returns the last message of each matching subject. */
  async lasts(stream: string, subjects: string): Promise<Message[]> {
    const { state } = await this.#ask.info(stream, subjects);
    const names = Object.keys(state.subjects ?? {});
    const found = names.length > NEAR ? await this.range(stream, subjects, 0, state.last_seq) : [];
    // A message that was written during the read has a position after the range, so it is requested by its subject.
    const read = new Set(found.map(({ subject }) => subject));
    const others = await Promise.all(names.filter((name) => !read.has(name)).map((name) => this.#ask.last(stream, name)));
    return [...found, ...others.filter((message) => message !== undefined)];
  }

  /** Requests the message of each sequence, which is faster than a consumer for a short range. */
  async #near(stream: string, subject: string, after: number, upTo: number): Promise<Message[]> {
    const seqs = Array.from({ length: Math.max(0, upTo - after) }, (_, n) => after + 1 + n);
    const found = await Promise.all(seqs.map((seq) => this.#ask.at(stream, seq)));
    return found
      .filter((message) => message !== undefined && isBelow(message.subject, subject))
      .map((message) => message as Message);
  }

  /** Returns at most `PAGE` messages of a subject after `after`, oldest first. */
  async #page(
    stream: string,
    subject: string,
    { after, subjectsOnly }: Pick<Required<Span>, 'after' | 'subjectsOnly'>,
  ): Promise<Message[]> {
    const consumer = await this.#consumer(stream, {
      ack_policy: this.#ask.driver.AckPolicy.None,
      deliver_policy: this.#ask.driver.DeliverPolicy.StartSequence,
      opt_start_seq: after + 1,
      filter_subject: subject,
      headers_only: subjectsOnly,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: 5_000 * NANOS,
    });
    const count = Math.min(consumer.num_pending, PAGE);
    const found: Message[] = [];
    try {
      if (count === 0) return found;
      const messages = await this.#ask.js.consumers
        .getConsumerFromInfo(consumer)
        .fetch({ max_messages: count, expires: FETCH_MS });
      for await (const message of messages)
        found.push({ seq: message.seq, subject: message.subject, text: subjectsOnly ? '' : message.string() });
    } finally {
      this.#drop(stream, consumer);
    }
    return found;
  }

  /**
   * Makes a temporary consumer on the leader of the stream. A cluster puts a consumer on any replica, and a replica that is not
   * the leader may be behind. After a disk fault, that replica may even lack messages without reporting an error.
   */
  async #consumer(stream: string, config: Partial<ConsumerConfig>): Promise<ConsumerInfo> {
    const over = new AbortController();
    const line = async (waitMs: number): Promise<ConsumerInfo> => {
      await sleep(waitMs, undefined, { signal: over.signal, ref: false });
      for (let tries = 0; tries < TRIES && !over.signal.aborted; tries++) {
        const consumer = await this.#ask.jsm.consumers.add(stream, config);
        // The leader is looked up after the consumer was made, because a former leader may lack acknowledged messages.
        const fits = consumer.cluster === undefined || consumer.cluster.leader === (await this.#ask.info(stream)).cluster?.leader;
        if (fits && !over.signal.aborted) return consumer;
        this.#drop(stream, consumer);
      }
      throw new Late(`no consumer of ${stream} reached its leader`);
    };
    try {
      return await Promise.any([0, 1, 2].map((n) => line(n * HEDGE_MS)));
    } catch (error) {
      throw error instanceof AggregateError ? error.errors[0] : error;
    } finally {
      over.abort();
    }
  }

  #drop(stream: string, { name }: ConsumerInfo): void {
    // If the deletion fails, the server itself removes the consumer after 5 s without use.
    this.#ask.jsm.consumers.delete(stream, name).catch(() => {});
  }
}

/**
 * Whether a subject matches a pattern, in which `*` is any token and a final `>` is any further tokens. The numbers of tokens are
 * not compared: a pattern without `>` has as many tokens as the subjects of its kind.
 */
function isBelow(subject: string, pattern: string): boolean {
  const tokens = subject.split('.');
  return pattern.split('.').every((token, n) => token === '>' || token === '*' || token === tokens[n]);
}
