/**
 * One connection to the servers, and the calls on the two streams of a store. Each method tries once; `insist` repeats an
 * operation that failed.
 */
import type { JetStreamClient, JetStreamManager, MsgRequest, StoredMsg } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { setTimeout as sleep } from 'node:timers/promises';
import { EarpieceError } from '../../core/errors.ts';
import type { Wait } from '../../core/ports.ts';
import { before, insist } from '../insist.ts';
import type { Listen } from '../wakeups.ts';
import type { Address } from './address.ts';
import type { Driver } from './driver.ts';
import { markedError } from '../moving/marks.ts';
import { markOf } from './marks.ts';
import { explain, isMissing, isPassing } from './trouble.ts';

export type Message = { readonly seq: number; readonly subject: string; readonly text: string };

/**
 * The oldest supported release. Older releases may check the last sequence of a subject wrongly if a stream has several replicas.
 */
const LEAST = [2, 10];
/** The time limit of one try, because a lost leader does not answer. */
const TRY_MS = 2_000;
/**
 * The maximum length of a range that is read message by message. A longer range is read by a consumer, which takes some ms to
 * create, and longer in a cluster.
 */
const NEAR = 128;
const PAGE = 1_000;
const BEHIND_MS = 10;
const NANOS = 1_000_000;

export class Server {
  readonly address: Address;
  /** The stream of the logs. The position of a record is the sequence of its message. */
  readonly logs: string;
  /** The stream of the tables. The last message of a subject is the row of that subject. */
  readonly tables: string;
  /** The beginning of all subjects. */
  readonly root: string;
  readonly #nc: NatsConnection;
  readonly #js: JetStreamClient;
  readonly #jsm: JetStreamManager;
  readonly #driver: Driver;

  private constructor(driver: Driver, address: Address, nc: NatsConnection, jsm: JetStreamManager) {
    this.address = address;
    this.logs = `EARPIECE_${address.store}`;
    this.tables = `${this.logs}_TABLES`;
    this.root = `earpiece.${address.store}`;
    this.#driver = driver;
    this.#nc = nc;
    this.#jsm = jsm;
    this.#js = driver.jetstream(nc, { timeout: TRY_MS });
  }

  /** With `moving`, the streams are neither made nor checked for the mark of a move. */
  static async open(driver: Driver, address: Address, { moving = false } = {}): Promise<Server> {
    const { servers, user, password, token, tls, name } = address;
    const nc = await insist(
      undefined,
      () =>
        driver.connect({
          servers: [...servers],
          ...(user === undefined ? {} : { user, pass: password ?? '' }),
          ...(token === undefined ? {} : { token }),
          ...(tls ? { tls: {} } : {}),
          name: 'earpiece',
          timeout: TRY_MS,
          maxReconnectAttempts: -1,
          reconnectTimeWait: 100,
          reconnectJitter: 50,
        }),
      { isPassing, explain: (error, waitedMs) => explain(error, address, waitedMs) },
    );
    try {
      checkVersion(nc, name);
      const jsm = await driver.jetstreamManager(nc, { timeout: TRY_MS, checkAPI: false });
      const server = new Server(driver, address, nc, jsm);
      if (!moving) await server.insist(undefined, () => server.#makeStreams());
      return server;
    } catch (error) {
      await nc.close();
      throw error;
    }
  }

  /**
   * Repeats an operation until it succeeds or the call's time limit is reached. The operation must itself detect the effects of
   * an earlier try.
   */
  insist<T>(options: Wait | undefined, work: (deadline: number) => Promise<T>): Promise<T> {
    return insist(options, (deadline) => before(deadline, work(deadline), () => {}), {
      isPassing,
      explain: (error, waitedMs) => explain(error, this.address, waitedMs),
    });
  }

  async close(): Promise<void> {
    await this.#nc.close();
  }

  /** For moves, which make and change streams. */
  get manager(): JetStreamManager {
    return this.#jsm;
  }

  /**
   * Stores a message, and returns its sequence. With `expected`, the message is stored only if `expected` is the last sequence of
   * its subject.
   */
  publish(subject: string, text: string, expected?: number): Promise<number> {
    return this.#publish(subject, text, expected === undefined ? {} : { lastSubjectSequence: expected });
  }

  /** Stores a message at one position: only if `last` is the last sequence of the stream. */
  publishAfter(last: number, subject: string, text: string): Promise<number> {
    return this.#publish(subject, text, { lastSequence: last });
  }

  async #publish(
    subject: string,
    text: string,
    expect: { readonly lastSubjectSequence?: number; readonly lastSequence?: number },
  ): Promise<number> {
    const data = Buffer.from(text);
    const most = this.#nc.info?.max_payload ?? Number.POSITIVE_INFINITY;
    if (data.length + HEADERS > most)
      throw new EarpieceError(
        'bad_argument',
        `${this.address.name} takes at most ${most} bytes in one message, and this append has ${data.length}: shorten it, or raise max_payload in the configuration of the server`,
      );
    const { seq } = await this.#js.publish(subject, data, Object.keys(expect).length === 0 ? {} : { expect });
    return seq;
  }

  /** Returns the last message of a subject, which may have wildcards. */
  last(stream: string, subject: string): Promise<Message | undefined> {
    return this.#get(stream, { last_by_subj: subject });
  }

  at(stream: string, seq: number): Promise<Message | undefined> {
    return this.#get(stream, { seq });
  }

  /** Returns the messages of a subject, which may have wildcards, from after `after` up to and including `upTo`. */
  async range(stream: string, subject: string, after: number, upTo: number): Promise<Message[]> {
    const found: Message[] = [];
    for await (const page of this.pages(stream, subject, after, upTo)) for (const message of page) found.push(message);
    return found;
  }

  /** As `range`, one page after the other. `attempt` repeats the calls for one page. */
  async *pages(
    stream: string,
    subject: string,
    after: number,
    upTo: number,
    attempt: <T>(work: () => Promise<T>) => Promise<T> = (work) => work(),
  ): AsyncIterable<readonly Message[]> {
    for (let seen: number | undefined = after; seen !== undefined;) {
      const from: number = seen;
      const step = await attempt(() => this.#step(stream, subject, from, upTo));
      yield step.messages;
      seen = step.next;
    }
  }

  /** One page, and where the next one begins. */
  async #step(
    stream: string,
    subject: string,
    after: number,
    upTo: number,
  ): Promise<{ readonly messages: readonly Message[]; readonly next?: number }> {
    if (upTo - after <= NEAR) return { messages: await this.#near(stream, subject, after, upTo) };
    const page = await this.#page(stream, subject, { after, limit: PAGE });
    const last = page.at(-1);
    if (last !== undefined) return { messages: page.filter(({ seq }) => seq <= upTo), next: last.seq };
    if (((await this.last(stream, subject))?.seq ?? 0) <= after) return { messages: [] };
    // The consumer reads from a replica that is behind.
    await sleep(BEHIND_MS);
    return { messages: [], next: after };
  }

  /** Returns the subjects of at most `limit` messages after `after`, oldest first. `head` is the last sequence of the stream. */
  async subjects(
    stream: string,
    subject: string,
    { after, limit, head }: { readonly after: number; readonly limit: number; readonly head: number },
  ): Promise<Message[]> {
    if (head - after <= NEAR) return (await this.#near(stream, subject, after, head)).slice(0, limit);
    return this.#page(stream, subject, { after, limit, subjectsOnly: true });
  }

  /** Returns the last message of each matching subject. */
  async lasts(stream: string, subjects: string): Promise<Message[]> {
    const { state } = await this.#jsm.streams.info(stream, { subjects_filter: subjects });
    const names = Object.keys(state.subjects ?? {});
    if (names.length > NEAR) return this.range(stream, subjects, 0, state.last_seq);
    const found = await Promise.all(names.map((name) => this.last(stream, name)));
    return found.filter((message) => message !== undefined);
  }

  /** Requests the message of each sequence, which is faster than a consumer for a short range. */
  async #near(stream: string, subject: string, after: number, upTo: number): Promise<Message[]> {
    const seqs = Array.from({ length: Math.max(0, upTo - after) }, (_, n) => after + 1 + n);
    const found = await Promise.all(seqs.map((seq) => this.at(stream, seq)));
    return found
      .filter((message) => message !== undefined && isBelow(message.subject, subject))
      .map((message) => message as Message);
  }

  /** Returns at most `limit` messages of a subject after `after`, oldest first. */
  async #page(
    stream: string,
    subject: string,
    { after, limit, subjectsOnly = false }: { readonly after: number; readonly limit: number; readonly subjectsOnly?: boolean },
  ): Promise<Message[]> {
    const consumer = await this.#jsm.consumers.add(stream, {
      ack_policy: this.#driver.AckPolicy.None,
      deliver_policy: this.#driver.DeliverPolicy.StartSequence,
      opt_start_seq: after + 1,
      filter_subject: subject,
      headers_only: subjectsOnly,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: 5_000 * NANOS,
    });
    const count = Math.min(consumer.num_pending, limit);
    const found: Message[] = [];
    try {
      if (count === 0) return found;
      const messages = await this.#js.consumers.getConsumerFromInfo(consumer).fetch({ max_messages: count, expires: TRY_MS });
      for await (const message of messages)
        found.push({ seq: message.seq, subject: message.subject, text: subjectsOnly ? '' : message.string() });
    } finally {
      // If the deletion fails, the server itself removes the consumer after 5 s without use.
      this.#jsm.consumers.delete(stream, consumer.name).catch(() => {});
    }
    return found;
  }

  /** Returns the last sequence that the stream has assigned. */
  async lastSeq(stream: string): Promise<number> {
    return (await this.#jsm.streams.info(stream)).state.last_seq;
  }

  async remove(stream: string, seq: number): Promise<void> {
    await this.#jsm.streams.deleteMessage(stream, seq, true).catch((error: unknown) => {
      if (!isMissing(error) && !/not found|no message/iu.test(String(error))) throw error;
    });
  }

  /** Removes all messages of a subject with a sequence below `before`, in one step. */
  async purge(stream: string, subject: string, before: number): Promise<void> {
    await this.#jsm.streams.purge(stream, { filter: subject, seq: before });
  }

  /** Publishes the newest position to listeners. */
  announce(head: number): void {
    if (!this.#nc.isClosed()) this.#nc.publish(`${this.root}.head`, String(head));
  }

  readonly listen: Listen = ({ head, ready, lost }) => {
    const subscription = this.#nc.subscribe(`${this.root}.head`, {
      callback: (error, message) => (error === null ? head(Number(message.string())) : lost()),
    });
    this.#nc.flush().then(ready, lost);
    return () => subscription.unsubscribe();
  };

  async #get(stream: string, query: MsgRequest): Promise<Message | undefined> {
    let found: StoredMsg | null;
    try {
      found = await this.#jsm.streams.getMessage(stream, query);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
    return found === null ? undefined : { seq: found.seq, subject: found.subject, text: found.string() };
  }

  async #makeStreams(): Promise<void> {
    const make = async (name: string, config: Parameters<JetStreamManager['streams']['add']>[0]): Promise<void> => {
      const info = await this.#jsm.streams.info(name).catch((error: unknown) => {
        if ((error as { code?: number }).code !== NO_STREAM) throw error;
      });
      const mark = info && markOf(info.config);
      if (mark !== undefined) throw markedError(this.address.name, mark);
      if (info === undefined) await this.#jsm.streams.add({ num_replicas: this.address.replicas, ...config, name });
    };
    const { logs, tables } = this.configs;
    // The mark of a move is on the logs.
    await Promise.all([make(this.logs, logs), make(this.tables, tables)]);
  }

  /** The configurations of the two streams. */
  get configs(): Readonly<Record<'logs' | 'tables', { name: string; subjects: string[]; max_msgs_per_subject?: number }>> {
    return {
      logs: { name: this.logs, subjects: [`${this.root}.log.>`] },
      tables: { name: this.tables, subjects: [`${this.root}.table.>`], max_msgs_per_subject: 1 },
    };
  }
}

/** Whether a subject matches a pattern, in which `*` is any token and a final `>` is any further tokens. */
function isBelow(subject: string, pattern: string): boolean {
  const tokens = subject.split('.');
  return pattern.split('.').every((token, n) => token === '>' || token === '*' || token === tokens[n]);
}

export const NO_STREAM = 10_059;
/** The number of bytes that are reserved for the headers of a message. */
const HEADERS = 256;

function checkVersion(nc: NatsConnection, name: string): void {
  const version = nc.info?.version ?? '0';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = LEAST;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return;
  throw new EarpieceError(
    'store_refused',
    `${name} runs nats-server ${version}, which can accept conflicting writes if there are several replicas: update it to ${LEAST.join('.')} or newer`,
  );
}
