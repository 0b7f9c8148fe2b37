/** One connection and its current conversation. The host may begin another conversation at any time (`/clear`). */
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import type { Store } from '../../core/ports.ts';
import { isSignal, placeOfSession, shownAs, type Conversation, type Identity, type Inbox } from '../../inbox/index.ts';
import { Attendance } from './attendance.ts';
import { EarlyRefusals } from './early-refusals.ts';
import type { InboxRiderOptions } from './inbox-rider-options.ts';
import { LastGate } from './last-gate.ts';
import { isSubagent, type Connection, type Ended, type OwnTool, type UpstreamEvent } from './rider.ts';
import { isTaskTool } from './task-tools.ts';

/** How long the conversation of a connection stays valid before it is looked up again. */
const IDENTIFY_EVERY_MS = 500;

/** How long a connection without a conversation waits before its conversation is looked up again. */
const REFUSED_MS = 10_000;

/** The error if this process must not act for the conversation of a connection. */
export class NoConversation extends Error {}

export class Seat {
  readonly connection: Connection;
  /** The seat of the client, if this seat is for one of the client's sessions. */
  readonly client: Seat | undefined;
  #options: InboxRiderOptions;
  #conversation: Promise<Conversation> | undefined;
  /** The conversation, if it is known. `speaks`: the conversation's view shows text even without notifications. */
  #known: { readonly conversation: Conversation; readonly speaks: boolean } | undefined;
  #identifiedAt = Number.NEGATIVE_INFINITY;
  #identity: Identity | undefined;
  readonly #attendance: Attendance;
  readonly gate = new LastGate();
  readonly early = new EarlyRefusals();
  /** The tools whose last result got no planned text. Their notifications are due at the next result. */
  readonly missed = new Set<string>();
  readonly #settling = new Set<Promise<unknown>>();
  #mark: string | undefined;
  /**
   * Events kept until a call names their conversation. A server can fail often, so only its newest state and instructions stay.
   */
  readonly #untold = new Map<string, UpstreamEvent>();
  #refused: { readonly error: NoConversation; readonly until: number } | undefined;

  constructor(connection: Connection, options: InboxRiderOptions, client?: Seat) {
    this.connection = connection;
    this.client = client;
    this.#options = options;
    this.#attendance = new Attendance(`${options.inbox.owner.pid} ${connection.key}`);
  }

  /**
   * Resolves to the conversation after it has begun and has taken over its inherited notifications, so that its gate is known.
   */
  async working(): Promise<Conversation> {
    if ((await this.#reboundTo()) !== undefined) this.#identifiedAt = Number.NEGATIVE_INFINITY;
    const conversation = await this.conversation();
    if (this.#identity && !this.#attendance.hasBegun(conversation)) await this.#attendance.begin(conversation, this.#identity);
    return conversation;
  }

  /**
   * Records that the connection is open, unless the conversation is unknown until a call names it. A sub-agent is not recorded,
   * because the end of a sub-agent does not end the conversation.
   */
  async opened(): Promise<void> {
    const conversation = await this.conversation();
    if (this.identity.untilCall || isSubagent(this.connection)) return;
    await this.#attendance.arrive(conversation);
    const bound = await this.#reboundTo();
    if (bound === undefined || this.identity.host === undefined) return;
    // While this connection arrived in a conversation without a session, a hook has reported the session. `bind` merges these two
    // conversations.
    await this.#options.inbox.bind(this.identity.host.process, bound);
    this.#identifiedAt = Number.NEGATIVE_INFINITY;
    await this.#attendance.arrive(await this.conversation());
  }

  /**
   * Resolves to the conversation that gets an event about a server. If no call has named the conversation yet, keeps the event
   * in place of an earlier event about the same server, and resolves to undefined.
   */
  async hearing(event: UpstreamEvent): Promise<Conversation | undefined> {
    const conversation = await this.conversation();
    if (!this.identity.untilCall || this.#attendance.hasBegun(conversation)) return conversation;
    const { server, state } = event;
    const about = JSON.stringify([server, state === 'introduced']);
    this.#untold.delete(about); // The map returns its events in the order in which they were set.
    this.#untold.set(about, event);
    return undefined;
  }

  /** Returns the kept events, and forgets them. The caller reports the events to the conversation. */
  takeUntold(): readonly UpstreamEvent[] {
    const untold = [...this.#untold.values()];
    this.#untold.clear();
    return untold;
  }

  async closed({ mayReturn }: Ended = { mayReturn: false }): Promise<void> {
    await this.#conversation?.catch(() => undefined);
    // A host that binds its process also reports the end of its session.
    const hostReportsEnd = mayReturn || this.#identity?.by === 'binding' || isSubagent(this.connection);
    try {
      await this.early.end();
    } finally {
      if (this.#identity) await this.#attendance.leave({ hostReportsEnd });
    }
  }

  /**
   * Returns a value if no notification is open and no gate is up, so that almost every call is decided without waiting. `silent`:
   * the view then shows no text. `speaks`: the view shows a text even without notifications.
   */
  quiet(): 'silent' | 'speaks' | undefined {
    if (this.#known === undefined || this.#isOld() || !this.#attendance.hasBegun(this.#known.conversation)) return undefined;
    if (!this.#known.conversation.quiet()) return undefined;
    return this.#known.speaks ? 'speaks' : 'silent';
  }

  /** Rejects with `NoConversation` if this process must not act for the conversation. */
  conversation(): Promise<Conversation> {
    if (this.#refused !== undefined && performance.now() < this.#refused.until) return Promise.reject(this.#refused.error);
    if (this.#conversation === undefined || this.#isOld()) {
      this.#identifiedAt = performance.now();
      const before = this.#conversation;
      this.#conversation = this.#find(before);
      this.#conversation.then(
        (conversation) =>
          (this.#known = { conversation, speaks: isSignal(conversation.options.view ?? conversation.policy().view) }),
        () => (this.#conversation = before),
      );
    }
    return this.#conversation;
  }

  /** Records the mark that the handshake's text explains, if the client's model reads the server's instructions. */
  said(mark: string): void {
    if (this.connection.profile.showsInstructions) this.#mark = mark;
  }

  /** Tracks the write of a confirmation or release until the write ends. */
  settling<T>(work: Promise<T>): Promise<T> {
    const done = (): void => void this.#settling.delete(work);
    this.#settling.add(work);
    work.then(done, done);
    return work;
  }

  /** The identity of the conversation that `working` returned. */
  get identity(): Identity {
    if (this.#identity === undefined) throw new TypeError('the identity of this connection was read before `working` resolved');
    return this.#identity;
  }

  /** Resolves when all previous confirmations and releases are written. */
  async delivered(): Promise<void> {
    await Promise.allSettled(this.#settling);
  }

  /** Resolves when all previous confirmations, releases and early refusals are written. */
  async settled(): Promise<void> {
    await Promise.all([this.delivered(), this.early.settled()]);
  }

  /** Whether the conversation is identified: by a given address, by its host, or by its client's name. */
  get bound(): boolean {
    return this.#identity !== undefined && this.#identity.by !== 'default';
  }

  /**
   * Returns the new session of the host, if a hook has reported one since the last lookup. The gate of that session applies from
   * this call on.
   */
  async #reboundTo(): Promise<Awaited<ReturnType<Store['binding']>>> {
    const { by, host, conversation } = this.#identity ?? {};
    if (host === undefined || by === 'given' || by === 'call') return undefined;
    const bound = await this.#options.inbox.store.binding(host.process);
    return bound !== undefined && bound.conversation !== conversation ? bound : undefined;
  }

  #isOld(): boolean {
    return performance.now() - this.#identifiedAt > IDENTIFY_EVERY_MS;
  }

  async #find(before: Promise<Conversation> | undefined): Promise<Conversation> {
    const { inbox, identify, carrier, view, purpose, tools = () => [] } = this.#options;
    const identity = await identify(this.connection).catch((error: unknown) => {
      if (!(error instanceof EarpieceError) || error.code !== 'not_trusted') throw error;
      const refused = new NoConversation(error.message, { cause: error });
      this.#refused = { error: refused, until: performance.now() + REFUSED_MS };
      throw refused;
    });
    this.#identity = identity;
    const known = await before?.catch(() => undefined);
    if (known && known.log === identity.log && known.id === identity.conversation) return known;
    const { client } = this.connection;
    return inbox.conversation(
      { log: identity.log, conversation: identity.conversation },
      {
        carrier,
        pulls: true,
        nameOf: namesOn(this.connection),
        has: namesOf(tools()),
        knownMark: () => (this.client ?? this).#mark,
        points: ['tool_result'],
        process: identity.host?.process ?? inbox.owner,
        ...((identity.host === undefined && this.#options.shared) || identity.by === 'call' ? { shared: true } : {}),
        ...defined({ folder: this.#options.folder, view, purpose }),
        ...(client === undefined ? {} : shownAs(client)),
      },
    );
  }
}

/**
 * Returns the conversation whose notifications a connection reads and whose tasks it reports: usually the connection's own
 * conversation. Only a connection of an unknown client may act for another conversation, with that conversation's token. An
 * address does not count as a token.
 */
export async function speakerOf(inbox: Inbox, seat: Seat, token: unknown): Promise<Conversation> {
  const own = await seat.working();
  if (token === undefined) return own;
  if (typeof token !== 'string')
    throw new EarpieceError(
      'bad_argument',
      `session_token must be a text, got ${JSON.stringify(token).slice(0, 80)}; leave session_token out`,
    );
  const place = await placeOfSession(inbox.store, token);
  if (place !== undefined && place.log === own.log && place.id === own.id) return own;
  const shown = JSON.stringify(token.slice(0, 80));
  // The error does not reveal whether the token exists.
  if (seat.bound)
    throw new EarpieceError(
      'not_trusted',
      `session_token ${shown} is not the token of ${own.address}, the conversation of this connection; leave session_token out`,
    );
  if (place === undefined)
    throw new EarpieceError(
      'not_found',
      `session_token ${shown} is not known; leave session_token out to read this connection's notifications`,
    );
  return inbox.conversation({ log: place.log, conversation: place.id }, { ...own.options, pulls: true });
}

/** Makes a function that returns the client's name for one of the gateway's own tools. The name is looked up for each call. */
export const namesOn =
  (connection: Connection) =>
  (tool: string): string =>
    connection.nameOf?.(tool) ?? tool;

/** Returns the names of the gateway's own tools that instructions may name. */
const namesOf = (tools: readonly OwnTool[]): readonly string[] => tools.map(({ name }) => name).filter(isTaskTool);
