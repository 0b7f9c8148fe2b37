/**
 * What rides on the gateway's results: an inbox behind the `Rider` port. One conversation per connection, found anew now
 * and then since its host may show another one (`/clear`).
 */
import type { Emitter } from '../../core/event.ts';
import type { ReleasedRecord } from '../../core/records.ts';
import { EarpieceError } from '../../core/errors.ts';
import { instructionsOf } from '../../core/views/wording.ts';
import {
  isSignal,
  placeOfSession,
  sessionTokenOf,
  type Conversation,
  type ConversationOptions,
  type Identity,
  type Inbox,
  type Offer,
} from '../../inbox/index.ts';
import type {
  Awaitable,
  Call,
  CallToolResult,
  Connection,
  Delivery,
  OwnAnswer,
  OwnCall,
  OwnTool,
  Result,
  Ride,
  Rider,
  UpstreamEvent,
  Verdict,
} from './rider.ts';
import { Attendance } from './attendance.ts';
import { SIGNAL } from './results.ts';
import { LastGate } from './last-gate.ts';
import { noDelivery } from './rider.ts';
import type { Toolbox } from './toolbox.ts';
import { tellUpstream, tellWorks } from './tell-upstream.ts';
import { answerTaskCall, GATEWAY_TASK_TOOLS, isTaskTool, SESSION_TOKEN, tokenOf } from './task-tools.ts';

export type InboxRiderOptions = {
  readonly inbox: Inbox;
  /** Where it tells that a server has gone or is back. */
  readonly emitter?: Emitter | undefined;
  /** Whose conversation a connection is. */
  readonly identify: (connection: Connection) => Promise<Identity>;
  /** For presence: what carries, e.g. `gateway:stdio files`. */
  readonly carrier: string;
  readonly view?: ConversationOptions['view'];
  /** One process serves many clients (HTTP): that it lives does not mean that they do. */
  readonly shared?: boolean;
  /** The worktree of its one client. */
  readonly folder?: string;
  /** What the conversations are for: `task` for work, `chat` for talking. */
  readonly purpose?: string | undefined;
  /** The own tools, as the gateway lists them. */
  readonly tools?: () => readonly OwnTool[];
  /** More own tools. */
  readonly boxes?: readonly Toolbox[];
  /** Where trouble of ours is told, one line each. */
  readonly complain: (line: string) => void;
};

const IDENTIFY_EVERY_MS = 500;

const GET_NOTIFICATIONS: OwnTool = {
  name: 'get_notifications',
  description:
    'Returns notifications for this conversation that have not been read yet, newest first: events from outside that happened while you worked (a build ended, a file changed, a person wants you to stop). ' +
    'Also returns tool results that were withheld because of an interrupt. For a notification of type "interrupt", `instruction` says what was asked for.',
  inputSchema: {
    type: 'object',
    properties: {
      session_token: SESSION_TOKEN,
      mark_as_read: { type: 'boolean', default: true, description: 'false leaves them unread' },
    },
    additionalProperties: false,
  },
  annotations: { title: 'Get notifications', readOnlyHint: true, openWorldHint: false },
};

/** The gateway's own tools, the same for every connection. Those for tasks cost tokens where nobody has any. */
export const ownTools = ({ tasks }: { readonly tasks: boolean }): readonly OwnTool[] =>
  tasks ? [GET_NOTIFICATIONS, ...GATEWAY_TASK_TOOLS] : [GET_NOTIFICATIONS];

/** What instructions may ask for, by the names that are ours. */
const namesOf = (tools: readonly OwnTool[]): readonly string[] => tools.map(({ name }) => name).filter(isTaskTool);

/** `idle`: everything that was begun in the background is written. */
export type InboxRider = Rider & { idle(): Promise<void> };

export function inboxRider(options: InboxRiderOptions): InboxRider {
  const { inbox } = options;
  const seats = new Map<string, Seat>();
  const seatOf = (connection: Connection): Seat => {
    let seat = seats.get(connection.key);
    if (!seat) seats.set(connection.key, (seat = new Seat(connection, options)));
    return seat;
  };
  const background = new Set<Promise<void>>();
  const settle = (work: Promise<unknown>): void => {
    const done = work.then(
      () => void background.delete(done),
      (error: unknown) => {
        background.delete(done);
        options.complain(`a notification's receipt was not written: ${messageOf(error)}`);
      },
    );
    background.add(done);
  };
  /** The servers of which it is settled what was said: by this gateway itself, or by an earlier one. */
  const settled = new Set<string>();
  const works = (seat: Seat, server: string): void => {
    if (settled.has(server)) return;
    settled.add(server);
    settle(seat.conversation().then((conversation) => tellWorks(options, conversation, server)));
  };
  const deliveryOf = (seat: Seat, offer: Offer | undefined): Delivery =>
    offer === undefined
      ? noDelivery
      : {
          confirm: () => settle(seat.settling(offer.confirm())),
          release: (reason: ReleasedRecord['reason']) => settle(seat.settling(offer.release(reason))),
        };
  /** When the call began, in the store's time: its result may be long in coming. */
  const begun = ({ beganAt }: Call): { readonly beganAt?: number } =>
    beganAt === undefined ? {} : { beganAt: inbox.store.now() - Math.round(performance.now() - beganAt) };

  const before = async (seat: Seat, call: Call): Promise<Verdict> => {
    const conversation = await seat.working();
    if (conversation.policy().interrupt !== 'before') return { kind: 'pass' };
    // The call itself confirms the answer before it: what that answer showed is read.
    await seat.settled();
    const refusal = await conversation.refuse({
      on: nameOf(call),
      ...begun(call),
      known: (gate) => seat.gate.known(gate, call, conversation.address),
    });
    if (refusal === undefined) {
      seat.gate.down(call);
      return { kind: 'pass' };
    }
    seat.gate.refused();
    return {
      kind: 'refuse',
      text: refusal.text,
      meta: { 'earpiece/notifications': refusal.ids },
      delivery: deliveryOf(seat, refusal.offer),
    };
  };
  const after = async (seat: Seat, result: Result): Promise<Ride> => {
    const conversation = await seat.working();
    const policy = conversation.policy();
    const on = nameOf(result);
    const maxChars = result.maxChars - result.chars;
    if (policy.interrupt === 'after') {
      await seat.settled();
      const refusal = await conversation.refuse({ on, made: true, ...begun(result) });
      if (refusal !== undefined) {
        await conversation.withhold(on, result.raw());
        return { kind: 'replace', text: refusal.text, delivery: deliveryOf(seat, refusal.offer) };
      }
    }
    return riding(seat, conversation, { on, tools: namesFor(seat.connection, result), maxChars });
  };
  const riding = async (
    seat: Seat,
    conversation: Conversation,
    { on, tools, maxChars }: { on: string; tools: readonly string[]; maxChars?: number },
  ): Promise<Exclude<Ride, { kind: 'replace' }>> => {
    if (isSignal(conversation.options.view ?? conversation.policy().view)) {
      const signal = await conversation.signal({ at: 'tool_result' });
      return { kind: 'ride', text: signal.waiting ? signal.text : '', signal: signal.text, delivery: noDelivery };
    }
    const offer = await conversation.offer({
      at: 'tool_result',
      on,
      tools,
      ...(maxChars === undefined ? {} : { maxChars }),
    });
    return offer === undefined ? { kind: 'none' } : { kind: 'ride', text: offer.view.text, delivery: deliveryOf(seat, offer) };
  };
  const boxedTool = async (connection: Connection, call: OwnCall, box: Toolbox): Promise<OwnAnswer> => {
    const seat = seatOf(connection);
    try {
      const conversation = await seat.working();
      await seat.settled();
      const answer = await box.answer(call, { conversation, identity: seat.identity });
      const result = text(answer.text);
      const { delivery } = answer;
      if (delivery === undefined) return answer.carries ? carrying(seat, conversation, call, result) : { result, ...noDelivery };
      const settles = (work: () => Promise<unknown>) => (): void => settle(seat.settling(work()));
      return { result, confirm: settles(() => delivery.confirm()), release: settles(() => delivery.release()) };
    } catch (error) {
      return { result: { ...text(messageOf(error)), isError: true }, ...noDelivery };
    }
  };
  /** A tool of ours passes every gate, and carries like any other, failing too; its own answer is never replaced. */
  const taskTool = async (connection: Connection, call: OwnCall): Promise<OwnAnswer> => {
    const seat = seatOf(connection);
    let conversation: Conversation | undefined;
    let result: CallToolResult;
    let carries = true;
    try {
      conversation = await speakerOf(inbox, seat, tokenOf(call));
      // This call proves that the agent read the answer before it, with the interrupts in it.
      await seat.settled();
      const answer = await answerTaskCall(conversation, call);
      result = text(JSON.stringify(answer.body));
      ({ carries } = answer);
    } catch (error) {
      result = { ...text(messageOf(error)), isError: true };
    }
    if (conversation === undefined || !carries) return { result, ...noDelivery };
    return carrying(seat, conversation, call, result);
  };
  const carrying = async (seat: Seat, conversation: Conversation, call: OwnCall, result: CallToolResult): Promise<OwnAnswer> => {
    const { connection } = seat;
    // What was reported is reported, whether or not something can ride on the answer.
    const ride = await riding(seat, conversation, {
      on: call.tool,
      tools: [...new Set([call.tool, namesOn(connection)(call.tool)])],
    }).catch((): Ride => ({ kind: 'none' }));
    if (ride.kind !== 'ride') return { result, ...noDelivery };
    return {
      result: {
        ...result,
        content: [...result.content, ...(ride.text === '' ? [] : text(ride.text).content)],
        ...(ride.signal === undefined ? {} : { [SIGNAL]: ride.signal }),
      },
      ...ride.delivery,
    };
  };

  return {
    idle: async () => {
      while (background.size > 0) await Promise.all(background);
    },

    tools: () => options.tools?.() ?? ownTools({ tasks: false }),

    async callTool(connection: Connection, call: OwnCall): Promise<OwnAnswer> {
      if (isTaskTool(call.tool)) return taskTool(connection, call);
      const box = options.boxes?.find(({ tools }) => tools.some(({ name }) => name === call.tool));
      if (box !== undefined) return boxedTool(connection, call, box);
      try {
        const { markAsRead, token } = readArguments(call.args);
        const seat = seatOf(connection);
        const conversation = await speakerOf(inbox, seat, token);
        // The answer before this call is read: what it showed does not come again.
        await seat.settled();
        const pulled = await conversation.pull({ mark: markAsRead });
        const answer = {
          success: true,
          // Whoever is known has no use for it, and shows it to nobody.
          ...(seat.bound ? {} : { session_token: await sessionTokenOf(inbox.store, conversation) }),
          count: pulled.notifications.length,
          notifications: pulled.notifications,
          ...(pulled.more > 0 ? { more: pulled.more } : {}),
          ...(pulled.withheld.length > 0 ? { withheld_results: pulled.withheld } : {}),
        };
        return { result: text(JSON.stringify(answer)), ...deliveryOf(seat, pulled.offer) };
      } catch (error) {
        return { result: { ...text(messageOf(error)), isError: true }, ...noDelivery };
      }
    },

    before(connection: Connection, call: Call): Awaitable<Verdict> {
      const seat = seatOf(connection);
      works(seat, call.server);
      return seat.quiet() === undefined ? before(seat, call) : { kind: 'pass' };
    },

    after(connection: Connection, result: Result): Awaitable<Ride> {
      const seat = seatOf(connection);
      return seat.quiet() === 'silent' ? { kind: 'none' } : after(seat, result);
    },

    held: (connection: Connection, call: Call): Verdict | undefined => seatOf(connection).gate.held(call),
    silent: (connection: Connection): boolean => seatOf(connection).quiet() === 'silent',
    working: () => inbox.lines?.busy?.() ?? false,

    async instructions(connection: Connection): Promise<string | undefined> {
      const seat = seatOf(connection);
      const conversation = await seat.conversation();
      // The texts of the signal views have no mark.
      if (isSignal(conversation.options.view ?? conversation.policy().view)) return undefined;
      const mark = await inbox.mark(conversation.log);
      seat.said(mark);
      return instructionsOf(mark);
    },

    opened(connection: Connection): void {
      settle(seatOf(connection).opened());
    },

    closed(connection: Connection): void {
      const seat = seats.get(connection.key);
      seats.delete(connection.key);
      if (seat) settle(seat.closed());
    },

    upstream(event: UpstreamEvent, of?: Connection['key']): void {
      if (event.state !== 'introduced') settled.add(event.server);
      const hearing = [...seats.values()].filter(({ connection }) => of === undefined || connection.key === of);
      settle(Promise.all(hearing.map(async (seat) => tellUpstream(options, await seat.conversation(), event))));
    },
  };
}

/** One connection and the conversation that it has now. */
class Seat {
  readonly connection: Connection;
  #options: InboxRiderOptions;
  #conversation: Promise<Conversation> | undefined;
  /** The same, when it is there, and whether its view speaks even when nothing waits. */
  #known: { readonly conversation: Conversation; readonly speaks: boolean } | undefined;
  #identifiedAt = Number.NEGATIVE_INFINITY;
  #identity: Identity | undefined;
  readonly #attendance: Attendance;
  readonly gate = new LastGate();
  readonly #settling = new Set<Promise<unknown>>();
  #mark: string | undefined;

  constructor(connection: Connection, options: InboxRiderOptions) {
    this.connection = connection;
    this.#options = options;
    this.#attendance = new Attendance(`${options.inbox.owner.pid} ${connection.key}`);
  }

  /** The conversation once it has begun: with what it inherits, so that its gate is known. */
  async working(): Promise<Conversation> {
    if (await this.#isRebound()) this.#identifiedAt = Number.NEGATIVE_INFINITY;
    const conversation = await this.conversation();
    if (this.#identity && !this.#attendance.hasBegun(conversation)) await this.#attendance.begin(conversation, this.#identity);
    return conversation;
  }

  async opened(): Promise<void> {
    await this.#attendance.arrive(await this.conversation());
  }

  async closed(): Promise<void> {
    await this.#conversation?.catch(() => undefined);
    if (this.#identity) await this.#attendance.leave(this.#identity);
  }

  /**
   * The answer to nearly every call, without a turn of the event loop: certain that nothing waits and no gate is up.
   * `silent`: then nothing is said either.
   */
  quiet(): 'silent' | 'speaks' | undefined {
    if (this.#known === undefined || this.#isOld() || !this.#attendance.hasBegun(this.#known.conversation)) return undefined;
    if (!this.#known.conversation.quiet()) return undefined;
    return this.#known.speaks ? 'speaks' : 'silent';
  }

  conversation(): Promise<Conversation> {
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

  /** The client has this mark in the server's instructions, and shows them to its model. */
  said(mark: string): void {
    if (this.connection.profile.showsInstructions) this.#mark = mark;
  }

  /** Counts what settles a delivery to this connection. */
  settling<T>(work: Promise<T>): Promise<T> {
    const done = (): void => void this.#settling.delete(work);
    this.#settling.add(work);
    work.then(done, done);
    return work;
  }

  /** Of the conversation that `working` gave. */
  get identity(): Identity {
    if (this.#identity === undefined) throw new TypeError('nobody has asked yet whose connection this is');
    return this.#identity;
  }

  /** Everything that was confirmed or released so far is written. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#settling);
  }

  /** It is known whose conversation it is: somebody said so, its host shows it, or it has a client's name. */
  get bound(): boolean {
    return this.#identity !== undefined && this.#identity.by !== 'default';
  }

  /** A hook has told meanwhile which session its host shows: the gate of that one counts from this call on. */
  async #isRebound(): Promise<boolean> {
    const { by, host, conversation } = this.#identity ?? {};
    if (host === undefined || by === 'given') return false;
    const bound = await this.#options.inbox.store.binding(host.process);
    return bound !== undefined && bound.conversation !== conversation;
  }

  #isOld(): boolean {
    return performance.now() - this.#identifiedAt > IDENTIFY_EVERY_MS;
  }

  async #find(before: Promise<Conversation> | undefined): Promise<Conversation> {
    const { inbox, identify, carrier, view, purpose, tools = () => [] } = this.#options;
    const identity = await identify(this.connection);
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
        knownMark: () => this.#mark,
        points: ['tool_result'],
        process: identity.host?.process ?? inbox.owner,
        ...(identity.host === undefined && this.#options.shared ? { shared: true } : {}),
        ...(this.#options.folder === undefined ? {} : { folder: this.#options.folder }),
        ...(view === undefined ? {} : { view }),
        ...(purpose === undefined ? {} : { purpose }),
        ...(client === undefined
          ? {}
          : { host: client.name, ...(client.version === undefined ? {} : { hostVersion: client.version }) }),
      },
    );
  }
}

/**
 * In whose name a connection reads and reports: its own conversation's. Only a connection that nobody knows may speak for
 * another conversation, with that conversation's token; an address is no token.
 */
async function speakerOf(inbox: Inbox, seat: Seat, token: unknown): Promise<Conversation> {
  const own = await seat.working();
  if (token === undefined) return own;
  if (typeof token !== 'string')
    throw new EarpieceError('bad_argument', `session_token ${JSON.stringify(token).slice(0, 80)} is not a text; leave it out`);
  const place = await placeOfSession(inbox.store, token);
  if (place !== undefined && place.log === own.log && place.id === own.id) return own;
  const shown = JSON.stringify(token.slice(0, 80));
  // The same words whether or not there is such a token.
  if (seat.bound)
    throw new EarpieceError(
      'not_trusted',
      `session_token ${shown} is not the token of ${own.address}, the conversation of this connection; leave it out`,
    );
  if (place === undefined)
    throw new EarpieceError(
      'not_found',
      `session_token ${shown} is not known; leave it out to read this connection's notifications`,
    );
  return inbox.conversation({ log: place.log, conversation: place.id }, { ...own.options, pulls: true });
}

function readArguments(args: unknown): { markAsRead: boolean; token: unknown } {
  const given = (args ?? {}) as Record<string, unknown>;
  for (const key of Object.keys(given))
    if (key !== 'session_token' && key !== 'mark_as_read')
      throw new EarpieceError(
        'bad_argument',
        `get_notifications has no argument ${JSON.stringify(key)}; it takes session_token and mark_as_read`,
      );
  const { session_token: token, mark_as_read: mark = true } = given;
  if (typeof mark !== 'boolean')
    throw new EarpieceError('bad_argument', `mark_as_read ${JSON.stringify(mark)} is not true or false`);
  return { markAsRead: mark, token };
}

/** By which name a client knows a tool of ours, whenever it is asked. */
const namesOn =
  (connection: Connection) =>
  (tool: string): string =>
    connection.nameOf?.(tool) ?? tool;

const text = (body: string): CallToolResult => ({ content: [{ type: 'text', text: body }] });
/** The names that `after:<tool>` may give a tool: `server:tool`, `tool`, and the one that the client lists. */
const namesFor = ({ shown }: Connection, call: Call): readonly string[] => [
  ...new Set([nameOf(call), call.tool, shown?.(call.server, call.tool) ?? call.tool]),
];

const nameOf = (call: Call): string => (call.server === '' ? call.tool : `${call.server}:${call.tool}`);
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
