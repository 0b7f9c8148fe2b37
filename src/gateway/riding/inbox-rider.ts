/**
 * What rides on the gateway's results: an inbox behind the `Rider` port. One conversation per connection, found anew now
 * and then since its host may show another one (`/clear`).
 */
import { makeEvent, notificationFrom, type Emitter, type EventInput } from '../../core/event.ts';
import type { ReleasedRecord } from '../../core/records.ts';
import { EarpieceError } from '../../core/errors.ts';
import { conversationId, parseAddress } from '../../core/address.ts';
import {
  isSignal,
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
import { SIGNAL } from './results.ts';
import { noDelivery } from './rider.ts';
import { answerTaskCall, GATEWAY_TASK_TOOLS, isTaskTool, tokenOf } from './task-tools.ts';

export type InboxRiderOptions = {
  readonly inbox: Inbox;
  /** Where it tells that a server has gone or is back. */
  readonly emitter?: Emitter | undefined;
  /** Whose conversation a connection is. */
  readonly identify: (connection: Connection) => Promise<Identity>;
  /** For presence: what carries, e.g. `gateway:stdio files`. */
  readonly carrier: string;
  readonly view?: ConversationOptions['view'];
  /** What the conversations are for: `task` for work, `chat` for talking. */
  readonly purpose?: string | undefined;
  /** The own tools, as the gateway lists them. */
  readonly tools?: () => readonly OwnTool[];
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
      session_token: {
        type: 'string',
        description: 'Only needed when this connection is not bound to a conversation: project/agent#conversation',
      },
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
  const has = (): readonly string[] => namesOf(options.tools?.() ?? []);
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
  const deliveryOf = (offer: Offer | undefined): Delivery =>
    offer === undefined
      ? noDelivery
      : { confirm: () => settle(offer.confirm()), release: (reason: ReleasedRecord['reason']) => settle(offer.release(reason)) };

  const before = async (seat: Seat, call: Call): Promise<Verdict> => {
    const conversation = await seat.conversation();
    if (conversation.policy().interrupt !== 'before') return { kind: 'pass' };
    const refusal = await conversation.refuse({ on: nameOf(call) });
    if (refusal === undefined) return { kind: 'pass' };
    return {
      kind: 'refuse',
      text: refusal.text,
      meta: { 'earpiece/notifications': refusal.ids },
      delivery: deliveryOf(refusal.offer),
    };
  };
  const after = async (seat: Seat, result: Result): Promise<Ride> => {
    const conversation = await seat.conversation();
    const policy = conversation.policy();
    const on = nameOf(result);
    const maxChars = result.maxChars - result.chars;
    if (policy.interrupt === 'after') {
      const refusal = await conversation.refuse({ on });
      if (refusal !== undefined) {
        await conversation.withhold(on, result.raw());
        return { kind: 'replace', text: refusal.text, delivery: deliveryOf(refusal.offer) };
      }
    }
    return riding(conversation, { on, maxChars });
  };
  const riding = async (
    conversation: Conversation,
    { on, maxChars }: { on: string; maxChars?: number },
  ): Promise<Exclude<Ride, { kind: 'replace' }>> => {
    if (isSignal(conversation.options.view ?? conversation.policy().view)) {
      const signal = await conversation.signal({ at: 'tool_result' });
      return { kind: 'ride', text: signal.waiting ? signal.text : '', signal: signal.text, delivery: noDelivery };
    }
    const offer = await conversation.offer({
      at: 'tool_result',
      on,
      tools: [on, on.slice(on.indexOf(':') + 1)],
      ...(maxChars === undefined ? {} : { maxChars }),
    });
    return offer === undefined ? { kind: 'none' } : { kind: 'ride', text: offer.view.text, delivery: deliveryOf(offer) };
  };
  /** A tool of ours passes every gate, and carries like any other, failing too; its own answer is never replaced. */
  const taskTool = async (connection: Connection, call: OwnCall): Promise<OwnAnswer> => {
    const seat = seatOf(connection);
    let conversation: Conversation | undefined;
    let result: CallToolResult;
    let carries = true;
    try {
      conversation = await speakerOf(inbox, seat, tokenOf(call), has());
      const answer = await answerTaskCall(conversation, call);
      result = text(JSON.stringify(answer.body));
      ({ carries } = answer);
    } catch (error) {
      result = { ...text(messageOf(error)), isError: true };
    }
    if (conversation === undefined || !carries) return { result, ...noDelivery };
    // What was reported is reported, whether or not something can ride on the answer.
    const ride = await riding(conversation, { on: call.tool }).catch((): Ride => ({ kind: 'none' }));
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
      try {
        const { markAsRead, token } = readArguments(call.args);
        const conversation =
          token === undefined
            ? await seatOf(connection).conversation()
            : await byToken(inbox, token, { has: has(), nameOf: namesOn(connection) });
        const pulled = await conversation.pull({ mark: markAsRead });
        const answer = {
          success: true,
          count: pulled.notifications.length,
          notifications: pulled.notifications,
          ...(pulled.more > 0 ? { more: pulled.more } : {}),
          ...(pulled.withheld.length > 0 ? { withheld_results: pulled.withheld } : {}),
        };
        return { result: text(JSON.stringify(answer)), ...deliveryOf(pulled.offer) };
      } catch (error) {
        return { result: { ...text(messageOf(error)), isError: true }, ...noDelivery };
      }
    },

    before(connection: Connection, call: Call): Awaitable<Verdict> {
      const seat = seatOf(connection);
      return seat.quiet() === undefined ? before(seat, call) : { kind: 'pass' };
    },

    after(connection: Connection, result: Result): Awaitable<Ride> {
      const seat = seatOf(connection);
      return seat.quiet() === 'silent' ? { kind: 'none' } : after(seat, result);
    },

    silent: (connection: Connection): boolean => seatOf(connection).quiet() === 'silent',
    working: () => inbox.lines?.busy?.() ?? false,

    opened(connection: Connection): void {
      settle(
        seatOf(connection)
          .conversation()
          .then((conversation) => conversation.seen({ pulls: true })),
      );
    },

    closed(connection: Connection): void {
      const seat = seats.get(connection.key);
      seats.delete(connection.key);
      // The conversation may go on with other carriers; only its host knows when it ends.
      if (seat) settle(seat.conversation().then((conversation) => conversation.seen()));
    },

    upstream(event: UpstreamEvent): void {
      settle(Promise.all([...seats.values()].map(async (seat) => tellUpstream(options, await seat.conversation(), event))));
    },
  };
}

/** One connection and the conversation that it has now. */
class Seat {
  #connection: Connection;
  #options: InboxRiderOptions;
  #conversation: Promise<Conversation> | undefined;
  /** The same, when it is there, and whether its view speaks even when nothing waits. */
  #known: { readonly conversation: Conversation; readonly speaks: boolean } | undefined;
  #identifiedAt = Number.NEGATIVE_INFINITY;
  #bound = false;

  constructor(connection: Connection, options: InboxRiderOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /**
   * The answer to nearly every call, without a turn of the event loop: certain that nothing waits and no gate is up.
   * `silent`: then nothing is said either.
   */
  quiet(): 'silent' | 'speaks' | undefined {
    if (this.#known === undefined || this.#isOld() || !this.#known.conversation.quiet()) return undefined;
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

  /** It is known whose conversation it is: somebody said so, or its host shows it. */
  get bound(): boolean {
    return this.#bound;
  }

  #isOld(): boolean {
    return performance.now() - this.#identifiedAt > IDENTIFY_EVERY_MS;
  }

  async #find(before: Promise<Conversation> | undefined): Promise<Conversation> {
    const { inbox, identify, carrier, view, purpose, tools = () => [] } = this.#options;
    const identity = await identify(this.#connection);
    this.#bound = identity.by !== 'default' && identity.by !== 'client name';
    const known = await before?.catch(() => undefined);
    if (known && known.log === identity.log && known.id === identity.conversation) return known;
    const { client } = this.#connection;
    return inbox.conversation(
      { log: identity.log, conversation: identity.conversation },
      {
        carrier,
        pulls: true,
        nameOf: namesOn(this.#connection),
        has: namesOf(tools()),
        points: ['tool_result'],
        process: identity.host?.process ?? inbox.owner,
        ...(view === undefined ? {} : { view }),
        ...(purpose === undefined ? {} : { purpose }),
        ...(client === undefined
          ? {}
          : { host: client.name, ...(client.version === undefined ? {} : { hostVersion: client.version }) }),
      },
    );
  }
}

/** That a server has gone, taken back when it is there again. Without an emitter one event is one notification. */
export async function tellUpstream(
  { inbox, emitter }: { readonly inbox: Inbox; readonly emitter?: Emitter | undefined },
  conversation: Conversation,
  event: UpstreamEvent,
): Promise<void> {
  const { server, detail } = event;
  const back = event.state === 'reconnected';
  const input: EventInput = {
    type: back ? 'mcp.reconnected' : 'mcp.disconnected',
    source: 'mcp',
    subject: conversation.address,
    severity: back ? 'info' : 'error',
    message: back
      ? `MCP server \`${server}\` is connected again${detail ? ` (${detail})` : ''}; what it kept in memory is gone`
      : `MCP server \`${server}\` has disconnected${detail ? `: ${detail}` : ''}`,
    data: { server, ...(detail ? { detail } : {}) },
    key: `mcp:${server}`,
    supersede: true,
  };
  if (emitter !== undefined) return void (await emitter.emit(input));
  const made = makeEvent(input, { id: inbox.ids.make('e'), now: inbox.store.now() });
  if (back) await inbox.withdraw(conversation.log, { key: `mcp:${server}` }, { by: 'mcp', reason: `${server} is back` });
  await inbox.queue(conversation.address, notificationFrom(made));
}

async function byToken(
  inbox: Inbox,
  token: string,
  knows: { readonly has: readonly string[]; readonly nameOf: (tool: string) => string },
): Promise<Conversation> {
  const address = parseAddress(token);
  if (address.kind !== 'conversation')
    throw new EarpieceError(
      'bad_address',
      `session_token ${JSON.stringify(token)} names no conversation: project/agent#conversation`,
    );
  const conversation = inbox.conversation(token, { pulls: true, ...knows });
  const there = await inbox.store.presence({ log: conversation.log, conversation: conversationId(address.conversation) });
  if (there.length === 0)
    throw new EarpieceError(
      'not_found',
      `session_token ${JSON.stringify(token)}: no such conversation has been seen; leave it out to read this one's`,
    );
  return conversation;
}

/** In whose name a connection takes and reports tasks: its own conversation's, and only where it has none of its own, a token's. */
async function speakerOf(inbox: Inbox, seat: Seat, token: unknown, has: readonly string[]): Promise<Conversation> {
  const own = await seat.conversation();
  if (token === undefined || token === own.address) return own;
  if (typeof token !== 'string') throw new EarpieceError('bad_argument', `session_token ${JSON.stringify(token)} is not a text`);
  if (seat.bound)
    throw new EarpieceError(
      'bad_argument',
      `session_token ${JSON.stringify(token.slice(0, 80))} is another conversation's, and this one is ${own.address}; leave it out`,
    );
  return byToken(inbox, token, { has, nameOf: own.nameOf });
}

function readArguments(args: unknown): { markAsRead: boolean; token?: string } {
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
  if (token !== undefined && typeof token !== 'string')
    throw new EarpieceError('bad_argument', `session_token ${JSON.stringify(token)} is not a text`);
  return { markAsRead: mark, ...(token === undefined ? {} : { token }) };
}

/** By which name a client knows a tool of ours, whenever it is asked. */
const namesOn =
  (connection: Connection) =>
  (tool: string): string =>
    connection.nameOf?.(tool) ?? tool;

const text = (body: string): CallToolResult => ({ content: [{ type: 'text', text: body }] });
const nameOf = (call: Call): string => (call.server === '' ? call.tool : `${call.server}:${call.tool}`);
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
