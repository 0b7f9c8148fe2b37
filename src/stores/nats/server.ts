/**
 * Connects to the servers, and makes the calls on the two streams of a store. Each method tries once. `insist` repeats an
 * operation that failed.
 */
import type { JetStreamManager, MsgRequest, StoredMsg, StreamConfig, StreamInfo } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { EarpieceError } from '../../core/errors.ts';
import type { Wait } from '../../core/ports.ts';
import { before, insist, Late } from '../insist.ts';
import type { Listen } from '../wakeups.ts';
import type { Address } from './address.ts';
import type { Driver } from './driver.ts';
import { markedError } from '../moving/marks.ts';
import { markOf } from './marks.ts';
import { type Message, Ranges } from './ranges.ts';
import { Requests } from './requests.ts';
import { explain, isMissing, isPassing, mayLackStream, NO_STREAM, withoutStream } from './trouble.ts';

/** A request for one message. The driver's types lack the request for the first message of a subject from a sequence on. */
type Wanted = MsgRequest | { readonly seq: number; readonly next_by_subj: string };

/**
 * The oldest supported release. Older releases may check the last sequence of a subject wrongly if a stream has several replicas.
 */
const LEAST = [2, 10];
/** The time limit of one try, because a lost leader does not answer. */
const TRY_MS = 2_000;
/** The minimum time between two announcements of the newest position. */
const ANNOUNCE_MS = 10;
/** The code of a direct answer without a message. */
const NO_MESSAGE = 404;
const ALONE = 'a single server';
/** Headers with which the server stores a message only if the given sequence is the last of its subject, or of the stream. */
const LAST_OF_SUBJECT = 'Nats-Expected-Last-Subject-Sequence';
const LAST_OF_STREAM = 'Nats-Expected-Last-Sequence';
/** The answer to a message that is stored or refused. */
type Stored = { readonly seq: number; readonly error?: { readonly err_code: number; readonly description: string } };

type Config = Pick<StreamConfig, 'name' | 'subjects'> & Partial<StreamConfig>;

export class Server {
  readonly address: Address;
  /** The stream of the logs. The position of a record is the sequence of its message. */
  readonly logs: string;
  /** The stream of the tables. The last message of a subject is the row of that subject. */
  readonly tables: string;
  /** The beginning of all subjects. */
  readonly root: string;
  readonly ranges: Ranges;
  /** The streams whose messages are requested directly. Empty in a cluster. */
  readonly #direct = new Set<string>();
  readonly #nc: NatsConnection;
  readonly #headers: Driver['headers'];
  readonly #requests: Requests;
  readonly #jsm: JetStreamManager;
  /** The newest position to announce, the last announced position, and the timer of the delay after an announcement. */
  #head = 0;
  #published = 0;
  #pause: NodeJS.Timeout | undefined;

  private constructor(driver: Driver, address: Address, nc: NatsConnection, jsm: JetStreamManager) {
    this.address = address;
    this.logs = `EARPIECE_${address.store}`;
    this.tables = `${this.logs}_TABLES`;
    this.root = `earpiece.${address.store}`;
    this.#nc = nc;
    this.#jsm = jsm;
    this.#headers = driver.headers;
    this.#requests = new Requests(nc, driver, TRY_MS);
    this.ranges = new Ranges({
      driver,
      js: driver.jetstream(nc, { timeout: TRY_MS }),
      jsm,
      info: (stream, subjects) => this.info(stream, subjects),
      last: (stream, subject) => this.last(stream, subject),
      at: (stream, seq) => this.#get(stream, { seq }),
      next: (stream, subject, seq) => this.#get(stream, { seq, next_by_subj: subject }),
    });
  }

  /**
   * Connects to the servers, and makes missing streams. With `moving`, the streams are neither made nor checked for the mark of
   * a move.
   */
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
          // Without this option, the driver makes an error for each request to record its stack.
          noAsyncTraces: true,
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
  async insist<T>(options: Wait | undefined, work: (deadline: number) => Promise<T>): Promise<T> {
    // The last try may end at the deadline without an answer, so an earlier error may be the one that shows a missing stream.
    let lacksStream = false;
    const attempt = async (deadline: number): Promise<T> => {
      try {
        return await before(deadline, work(deadline), () => {});
      } catch (error) {
        lacksStream ||= mayLackStream(error);
        throw error;
      }
    };
    const how = { isPassing, explain: (error: unknown, waitedMs: number) => explain(error, this.address, waitedMs) };
    try {
      return await insist(options, attempt, how);
    } catch (error) {
      throw (lacksStream ? await this.#withoutStream(error) : undefined) ?? error;
    }
  }

  async #withoutStream(error: unknown): Promise<EarpieceError | undefined> {
    try {
      for (const stream of [this.logs, this.tables])
        if ((await this.infoIfAny(stream)) === undefined) return withoutStream(this.address, stream, error);
    } catch {
      // The server does not answer, so the caller gets the original error.
    }
    return undefined;
  }

  async close(): Promise<void> {
    clearTimeout(this.#pause);
    if (this.#head > this.#published) this.#publishHead();
    await this.#nc.close();
  }

  /** Returns the manager of the streams, for moves, which make and change streams. */
  get manager(): JetStreamManager {
    return this.#jsm;
  }

  /**
   * Stores a message, and returns its sequence. With `expected`, the message is stored only if `expected` is the last sequence of
   * its subject.
   */
  publish(subject: string, text: string, expected?: number): Promise<number> {
    return this.#publish(subject, text, expected === undefined ? undefined : { [LAST_OF_SUBJECT]: expected });
  }

  /** Stores a message only if `last` is the last sequence of the stream, so that the message gets the next position. */
  publishAfter(last: number, subject: string, text: string): Promise<number> {
    return this.#publish(subject, text, { [LAST_OF_STREAM]: last });
  }

  async #publish(subject: string, text: string, expected: Readonly<Record<string, number>> = {}): Promise<number> {
    const data = Buffer.from(text);
    const most = this.#nc.info?.max_payload ?? Number.POSITIVE_INFINITY;
    if (data.length + HEADERS > most)
      throw new EarpieceError(
        'bad_argument',
        `${this.address.name} takes at most ${most} bytes in one message, but this append has ${data.length}: shorten the notification, or raise max_payload on the server`,
      );
    const headers = this.#headers();
    for (const [name, value] of Object.entries(expected)) headers.set(name, String(value));
    const { seq, error } = (await this.#requests.send(subject, data, headers)).json<Stored>();
    if (error !== undefined) throw Object.assign(new Error(error.description), { code: error.err_code });
    return seq;
  }

  /** Returns the last message of a subject, which may have wildcards. */
  last(stream: string, subject: string): Promise<Message | undefined> {
    return this.#get(stream, { last_by_subj: subject });
  }

  /**
   * Returns the state of a stream from its leader, with the number of messages on each subject that matches `subjects`. Throws
   * `Late` while the stream has no leader, because a replica that answers without a leader may be behind.
   */
  async info(stream: string, subjects?: string): Promise<StreamInfo> {
    const filter = subjects === undefined ? {} : { subjects_filter: subjects };
    const info = await this.#jsm.streams.info(stream, filter);
    // An answer lists all nodes except its sender as replicas, so a leader among the replicas has not sent the answer.
    const { leader, replicas = [] } = info.cluster ?? { leader: ALONE };
    if (!leader || replicas.some(({ name }) => name === leader)) throw new Late(`${stream} has no leader`);
    return info;
  }

  /** Returns the last sequence that the stream has assigned. */
  async lastSeq(stream: string): Promise<number> {
    return (await this.info(stream)).state.last_seq;
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
    this.#head = Math.max(this.#head, head);
    if (this.#pause !== undefined) return;
    this.#publishHead();
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      if (this.#head > this.#published) this.announce(this.#head);
    }, ANNOUNCE_MS);
  }

  #publishHead(): void {
    this.#published = this.#head;
    if (!this.#nc.isClosed()) this.#nc.publish(`${this.root}.head`, String(this.#head));
  }

  readonly listen: Listen = ({ head, ready, lost }) => {
    const subscription = this.#nc.subscribe(`${this.root}.head`, {
      callback: (error, message) => (error === null ? head(Number(message.string())) : lost()),
    });
    this.#nc.flush().then(ready, lost);
    return () => subscription.unsubscribe();
  };

  async #get(stream: string, query: Wanted): Promise<Message | undefined> {
    if (this.#direct.has(stream) && this.#nc.info?.cluster === undefined) return this.#getDirect(stream, query);
    let found: StoredMsg | null;
    try {
      found = await this.#jsm.streams.getMessage(stream, query);
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
    return found === null ? undefined : { seq: found.seq, subject: found.subject, text: found.string() };
  }

  /** Like `#get`, with less work. In a cluster, any replica would answer, so only a single server gets this request. */
  async #getDirect(stream: string, query: Wanted): Promise<Message | undefined> {
    const answer = await this.#requests.send(`$JS.API.DIRECT.GET.${stream}`, JSON.stringify(query));
    const { headers } = answer;
    if (headers === undefined) throw new Late(`no direct answer from ${stream}`);
    if (headers.code === NO_MESSAGE) return undefined;
    if (headers.code !== 0) throw Object.assign(new Error(headers.description), { code: headers.code });
    return { seq: Number(headers.get('Nats-Sequence')), subject: headers.get('Nats-Subject'), text: answer.string() };
  }

  async #makeStreams(): Promise<void> {
    const { logs, tables } = this.configs;
    const names = [this.logs, this.tables];
    const [oldLogs, oldTables] = await Promise.all(names.map((name) => this.infoIfAny(name)));
    // Only the stream of the logs can have the mark of a move.
    const mark = oldLogs && markOf(oldLogs.config);
    if (mark !== undefined) throw markedError(this.address.name, mark);
    await this.checkBoth(oldLogs, oldTables);
    const make = async (config: Config, old: StreamInfo | undefined): Promise<void> => {
      const info = old ?? (await this.#jsm.streams.add({ num_replicas: this.address.replicas, ...config }));
      if (info.cluster === undefined && info.config.allow_direct) this.#direct.add(config.name);
    };
    await Promise.all([make(logs, oldLogs), make(tables, oldTables)]);
  }

  infoIfAny(name: string): Promise<StreamInfo | undefined> {
    return this.info(name).catch((error: unknown) => {
      if ((error as { code?: number }).code !== NO_STREAM) throw error;
      return undefined;
    });
  }

  /**
   * Throws `store_corrupt` if one stream is missing although the other has had messages. A process writes only after it has made
   * both streams, so a second request distinguishes a deleted stream from a stream that another process makes.
   */
  async checkBoth(logs: StreamInfo | undefined, tables: StreamInfo | undefined): Promise<void> {
    const one = logs ?? tables;
    if (one === undefined || (logs !== undefined && tables !== undefined) || one.state.last_seq === 0) return;
    const gone = logs === undefined ? this.logs : this.tables;
    if ((await this.infoIfAny(gone)) !== undefined) return;
    const { name } = this.address;
    throw new EarpieceError(
      'store_corrupt',
      `${name} is damaged (the stream ${gone} is missing, but ${one.config.name} exists): restore the stream with nats stream restore, or name another store`,
      { data: { store: name } },
    );
  }

  get configs(): Readonly<Record<'logs' | 'tables', Config>> {
    return {
      logs: { name: this.logs, subjects: [`${this.root}.log.>`], allow_direct: true },
      tables: { name: this.tables, subjects: [`${this.root}.table.>`], max_msgs_per_subject: 1, allow_direct: true },
    };
  }
}

/** The number of bytes that are reserved for the headers of a message. */
const HEADERS = 256;

function checkVersion(nc: NatsConnection, name: string): void {
  const version = nc.info?.version ?? '0';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = LEAST;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return;
  throw new EarpieceError(
    'store_refused',
    `${name} runs nats-server ${version}, which can accept conflicting writes if there are several replicas: update the server to ${LEAST.join('.')} or newer`,
  );
}
