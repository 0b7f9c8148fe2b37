/** Provides the main object of the library, which combines an inbox, its bus and its tasks. */
import { logOf } from '../core/address.ts';
import { EarpieceError } from '../core/errors.ts';
import { DEFAULT_POLICY, type Policy } from '../core/policy.ts';
import type { Clock, Store } from '../core/ports.ts';
import type { Item } from '../core/items.ts';
import { RECEIPTS, type ReceiptName } from '../core/receipts.ts';
import { recordTypesProblem, type RecordType } from '../core/record-types.ts';
import type { Stored } from '../core/records.ts';
import type { NotificationInput } from '../core/notification.ts';
import type { SubscriberSource } from '../bus/index.ts';
import {
  actorOf,
  callersWords,
  awaitReceipt,
  type Lifted,
  type Queued,
  type ReceiptState,
  type Why,
  type Withdrawn,
} from '../inbox/index.ts';
import { policyProblem } from '../config/policy-values.ts';
import { defined } from '../core/defined.ts';
import { openLoadedInbox, type LoadedInbox } from '../loaded-inbox.ts';
import { bad, check, checkText, reading, type Table } from './arguments.ts';
import { Conversation, CONVERSATION, type ConversationOptions } from './conversation.ts';
import { Events } from './events.ts';
import { checkFolder } from './folder.ts';
import { closeInner, keepInner, mustBeOpen } from './inner.ts';
import { addressOf, fullName, logNamed } from './names.ts';
import { NOTIFICATION } from './notification-table.ts';
import { STORE_METHODS } from './store-methods.ts';
import { Tasks } from './tasks.ts';

export type OpenOptions = {
  /**
   * A file, `memory:`, `postgres://…`, `nats://…`, or an open store. Default: the configured database, otherwise one file for
   * each user.
   */
  readonly db?: string | Store;
  /** The folder where the search for `earpiece.toml` and the project begins. Default: the working folder. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Settings that override the configuration. */
  readonly policy?: Partial<Policy>;
  readonly clock?: Clock;
  /** Whether a separate thread opens the database, so that a slow disk does not block this process. Default: false. */
  readonly thread?: boolean;
  /** The subscribers, which replace the shipped subscribers and the files of the user and the project. */
  readonly subscribers?: SubscriberSource;
  /**
   * Called with one line for each problem that throws no error: of a configuration file, the store, a subscriber or a template.
   * Default: only the store reports its problems, as process warnings.
   */
  readonly onProblem?: (line: string) => void;
};

export type ReceiptOptions = {
  /** The receipt to wait for. Default: the call does not wait. */
  readonly until?: ReceiptName;
  /** The longest wait, in milliseconds. Default 30,000. */
  readonly withinMs?: number;
  /** Ends the wait. The promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** The agent of the notification. Default: every agent that has a notification with this id. */
  readonly of?: string;
};

/** One active conversation. */
export type Active = {
  readonly address: string;
  readonly host: string | undefined;
  readonly purpose: string | undefined;
  /** Epoch milliseconds. */
  readonly startedAt: number;
  readonly seenAt: number;
};

const OPEN: Table<OpenOptions> = {
  db: { methods: STORE_METHODS, like: 'an open store', or: 'name' },
  cwd: 'name',
  env: { each: 'text' },
  policy: { keys: Object.fromEntries(Object.keys({ ...DEFAULT_POLICY, wakeQuiet: 0 }).map((key) => [key, 'any' as const])) },
  clock: { methods: ['now'], like: 'an object with now()' },
  thread: 'flag',
  subscribers: { methods: ['of'], like: 'the result of subscriberFolders()' },
  onProblem: 'function',
};
const RECEIPT: Table<ReceiptOptions> = { until: RECEIPTS, withinMs: 'amount', signal: 'signal', of: 'text' };
const WAIT_MS = 30_000;

/**
 * Opens the inbox of this user. Close the result, or declare it with `await using`. Throws `bad_config` with every problem of the
 * configuration. If the database cannot be opened, throws `store_refused`, `store_corrupt` or `store_unavailable`.
 */
export async function openEarpiece(options: OpenOptions = {}): Promise<Earpiece> {
  check('openEarpiece', options, OPEN);
  if (options.cwd !== undefined) checkFolder('openEarpiece', 'cwd', options.cwd);
  const wrong = reading('openEarpiece', 'policy', () => policyProblem(options.policy ?? {}));
  if (wrong !== undefined) throw bad(`openEarpiece: policy.${wrong.key} ${wrong.text}`, `policy.${wrong.key}`);
  const { env, ...rest } = options;
  return new Earpiece(await openLoadedInbox({ ...rest, ...defined({ env }) }));
}

/**
 * The API for one database. `coder` names an agent in the project of this folder, `project/coder` an agent in any project, and
 * `coder#c1` a conversation of an agent.
 */
export class Earpiece implements AsyncDisposable {
  /** The project of this folder. */
  readonly project: string;
  readonly events: Events;
  readonly tasks: Tasks;
  readonly #opened: LoadedInbox;

  /** Programs call `openEarpiece`, and not this constructor. */
  constructor(inbox: object) {
    this.#opened = inbox as LoadedInbox;
    this.project = this.#opened.project;
    this.events = new Events(this.#opened);
    this.tasks = new Tasks(this.#opened);
    keepInner(this, this.#opened);
  }

  /**
   * Queues a notification. When the promise resolves, the notification survives a crash, unless the store is in memory. `*`
   * addresses every active conversation of the project. Throws `bad_notification` or `bad_address`, and `nobody_there` if a
   * notification for `*` has no effect.
   */
  async queue(to: string, notification: NotificationInput): Promise<Queued> {
    const address = addressOf('queue', this.project, to);
    check('queue', notification, NOTIFICATION, 'the notification');
    return this.#inbox.queue(address, callersWords(notification, this.#inbox.speaker));
  }

  /**
   * Returns one conversation of an agent, for the program that runs the agent's loop. A name without `#…` means the agent's main
   * conversation.
   */
  conversation(name: string, options: ConversationOptions = {}): Conversation {
    check('conversation', options, CONVERSATION);
    const process = this.#inbox.owner;
    return new Conversation(
      this.#inbox.conversation(fullName('conversation', this.project, name), {
        points: ['turn_start', 'tool_result'],
        carrier: 'library',
        process,
        ...options,
      }),
    );
  }

  /** Returns the receipt of a notification. With `until`, waits for that receipt. Throws `not_found` for an unknown id. */
  async receipt(id: string, options: ReceiptOptions = {}): Promise<ReceiptState> {
    checkText('receipt', 'the id', id);
    check('receipt', options, RECEIPT);
    const { until, withinMs = WAIT_MS, signal, of } = options;
    const { store } = this.#inbox;
    const logs = of === undefined ? (await store.overview()).map(({ log }) => log) : [logNamed('receipt', this.project, of)];
    const state = await awaitReceipt(
      store,
      { id, logs },
      { until: until ?? 'delivered', withinMs: until === undefined ? 0 : withinMs, ...(signal ? { signal } : {}) },
    );
    if (state === undefined)
      throw new EarpieceError(
        'not_found',
        `receipt: no notification ${JSON.stringify(id.slice(0, 80))}; pass the id that queue() returned`,
      );
    return state;
  }

  /** Lists the open and offered notifications of an agent, oldest first. */
  async waiting(of: string): Promise<readonly Item[]> {
    return this.#inbox.open(logNamed('waiting', this.project, of));
  }

  /**
   * Withdraws one notification by its id, or all open notifications with a key. A delivered interrupt with this id or key no
   * longer keeps the gate up. In a command of an agent, the agent's name replaces `by`.
   */
  async withdraw(
    from: string,
    what: { readonly id: string } | { readonly key: string },
    why: { readonly by: string; readonly reason: string },
  ): Promise<readonly Withdrawn[]> {
    const given = what as { id?: string; key?: string };
    check('withdraw', given, { id: 'text', key: 'text' });
    if ((given.id === undefined) === (given.key === undefined))
      throw bad(`withdraw: pass either an id or a key, got ${given.id === undefined ? 'neither' : 'both'}`);
    check('withdraw', why, { by: { needed: 'text' }, reason: { needed: 'text' } });
    const { by, reason } = why;
    return this.#inbox.withdraw(logNamed('withdraw', this.project, from), what, { by: actorOf(by, this.#inbox.speaker), reason });
  }

  /**
   * Queues a closed notification again, under a new id. Throws `not_found` for an unknown id, and `bad_argument` for an open
   * notification. In a command of an agent, the agent's name replaces `by`.
   */
  async requeue(of: string, id: string, options: { readonly by: string }): Promise<Queued> {
    check('requeue', options, { by: { needed: 'text' } });
    return this.#inbox.requeue(logNamed('requeue', this.project, of), id, options.by);
  }

  /** Lifts the pauses of an agent, of one conversation, or with `*` of the project. Returns the lifted pauses. */
  async resume(of: string, options: { readonly person: string; readonly message?: string }): Promise<readonly Lifted[]> {
    check('resume', options, { person: { needed: 'text' }, message: 'text' });
    return this.#inbox.resume(addressOf('resume', this.project, of), options);
  }

  /**
   * Mutes a kind (`ci.failed`, `ci.*`, `*`) for an agent, for `forMs` milliseconds or until a call with `off: true` lifts the
   * mute. Throws `not_trusted` in a command of an agent.
   */
  async mute(
    of: string,
    kind: string,
    options: { readonly by: string; readonly forMs?: number; readonly off?: boolean },
  ): Promise<void> {
    check('mute', options, { by: { needed: 'text' }, forMs: 'positive', off: 'flag' });
    await this.#inbox.mute(logNamed('mute', this.project, of), kind, options);
  }

  /** Explains what happened to a notification. Resolves to undefined if no notification has this id. */
  async why(id: string, options: { readonly of?: string } = {}): Promise<Why | undefined> {
    checkText('why', 'the id', id);
    check('why', options, { of: 'text' });
    return this.#inbox.why(id, options.of === undefined ? undefined : logNamed('why', this.project, options.of));
  }

  /**
   * Yields records of this project, or of the agent, conversation or project in `of`, as soon as any process writes them. Begins
   * after the position `after`; without `after`, yields only new records. Ends when `signal` aborts.
   */
  watch(
    query: {
      readonly of?: string;
      readonly types?: readonly RecordType[];
      readonly after?: number;
      readonly signal?: AbortSignal;
    } = {},
  ): AsyncIterable<Stored> {
    check('watch', query, { of: 'text', types: { listOf: 'text' }, after: 'position', signal: 'signal' });
    const { of, ...rest } = query;
    const problem = rest.types && reading('watch', 'types', () => recordTypesProblem(rest.types ?? []));
    if (problem !== undefined) throw bad(`watch: types: ${problem}`, 'types');
    const address = of === undefined ? undefined : addressOf('watch', this.project, of);
    const where =
      address === undefined || address.kind === 'project'
        ? { project: address?.project ?? this.project }
        : { log: logOf(address) };
    return this.#inbox.watch({
      ...rest,
      ...where,
      ...(address?.kind === 'conversation' ? { conversation: address.conversation } : {}),
    });
  }

  /** Lists the active conversations of this project. */
  async active(): Promise<readonly Active[]> {
    const all = await this.#inbox.active({ project: this.project });
    return all.map(({ log, conversation, host, purpose, startedAt, seenAt }) => ({
      address: `${log}#${conversation}`,
      host,
      purpose,
      startedAt,
      seenAt,
    }));
  }

  /**
   * Closes expired notifications, releases leases that have ended or whose owner is dead, and finishes interrupted sends to a
   * project. Prunes at most once a day. Call this method about once a minute in a long-lived process.
   */
  async sweep(): Promise<void> {
    await this.#inbox.sweep();
  }

  /** Writes the notifications that the bus still holds back, and closes the inbox. */
  async close(): Promise<void> {
    closeInner(this.#opened);
    await this.#opened.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get #inbox(): LoadedInbox {
    mustBeOpen(this.#opened);
    return this.#opened;
  }
}
