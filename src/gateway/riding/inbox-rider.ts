/**
 * Connects an inbox to the gateway's `Rider` port. Each connection has one conversation at a time. The rider looks up the
 * conversation again from time to time, because the connection's host may have begun another conversation (`/clear`).
 */
import { defined } from '../../core/defined.ts';
import type { ReleasedRecord } from '../../core/records.ts';
import { instructionsOf } from '../../core/views/wording.ts';
import { isSignal, mayStillSend, sessionTokenOf, type Conversation, type Offer } from '../../inbox/index.ts';
import { Departures, type Departure } from './departures.ts';
import { answerText, fitsOn, GET_NOTIFICATIONS, readArguments } from './get-notifications.ts';
import type { InboxRiderOptions } from './inbox-rider-options.ts';
import type { Profile } from './profiles.ts';
import { SIGNAL, sizeOf } from './results.ts';
import {
  isSubagent,
  noDelivery,
  PASS,
  type Awaitable,
  type Call,
  type CallToolResult,
  type Connection,
  type Delivery,
  type Ended,
  type OwnAnswer,
  type OwnCall,
  type OwnTool,
  type Result,
  type Ride,
  type Rider,
  type UpstreamEvent,
  type Verdict,
} from './rider.ts';
import { namesOn, NoConversation, Seat, speakerOf } from './seat.ts';
import { beforeSubagent, mainOf, REFUSE_SUBAGENT, SUBAGENT_READS_NONE } from './subagents.ts';
import { answerTaskCall, GATEWAY_TASK_TOOLS, isTaskTool, tokenOf } from './task-tools.ts';
import { tellUpstream, tellWorks } from './tell-upstream.ts';
import type { Toolbox } from './toolbox.ts';

export type { InboxRiderOptions } from './inbox-rider-options.ts';

/**
 * Returns the gateway's own tools, the same for every connection. Without tasks, the tools for tasks are omitted, because they
 * cost tokens.
 */
export const ownTools = ({ tasks }: { readonly tasks: boolean }): readonly OwnTool[] =>
  tasks ? [GET_NOTIFICATIONS, ...GATEWAY_TASK_TOOLS] : [GET_NOTIFICATIONS];

/** How long a call waits for the release of a late text that contains an interrupt. */
const LANDING_MS = 250;

/** `idle` resolves when all background work is done. */
export type InboxRider = Rider & { idle(): Promise<void> };

export function inboxRider(options: InboxRiderOptions): InboxRider {
  const { inbox } = options;
  const seats = new Map<string, Seat>();
  const seatOf = (connection: Connection): Seat => {
    let seat = seats.get(connection.key);
    const client = connection.caller && seatOf(connection.caller.client);
    if (!seat) seats.set(connection.key, (seat = new Seat(connection, options, client)));
    return seat;
  };
  const background = new Set<Promise<void>>();
  const refusals = new Set<string>();
  const failed = (error: unknown): void => {
    if (!(error instanceof NoConversation))
      return options.complain(`a notification's receipt was not written: ${messageOf(error)}`);
    if (!refusals.has(error.message)) options.complain(`this MCP client gets no notifications: ${error.message}`);
    refusals.add(error.message);
  };
  /** Resolves to `otherwise` if this client gets no notifications (`NoConversation`). */
  const orPass = <T>(work: Promise<T>, otherwise: T): Promise<T> =>
    work.catch((error: unknown) => {
      if (!(error instanceof NoConversation)) throw error;
      failed(error);
      return otherwise;
    });
  const settle = (work: Promise<unknown>): void => {
    const done = work.then(
      () => void background.delete(done),
      (error: unknown) => {
        background.delete(done);
        failed(error);
      },
    );
    background.add(done);
  };
  /** The servers that need no `tellWorks`: it was called before, or this gateway has reported an event about the server. */
  const settled = new Set<string>();
  const works = (seat: Seat, server: string): void => {
    if (settled.has(server)) return;
    settled.add(server);
    settle(seat.conversation().then((conversation) => tellWorks(options, conversation, server)));
  };
  const tell = (seat: Seat, event: UpstreamEvent): void =>
    settle(
      seat
        .hearing(event)
        .then((conversation) => (conversation === undefined ? undefined : tellUpstream(options, conversation, event))),
    );
  /** Returns the seat of a call, and reports the kept events to the conversation that the call names. */
  const calledOn = (connection: Connection): Seat => {
    const seat = seatOf(connection);
    for (const event of (seat.client ?? seat).takeUntold()) tell(seat, event);
    return seat;
  };
  const departures = new Departures();
  const deliveryOf = (seat: Seat, offer: Offer | undefined, departure: Departure): Delivery =>
    departure.of({
      confirm: () => offer && settle(seat.settling(offer.confirm())),
      release: (reason: ReleasedRecord['reason']) => offer && settle(seat.settling(offer.release(reason))),
    });
  /** Returns the start of the call, by the store's clock. The gate may be checked much later. */
  const begun = ({ beganAt }: Call): { readonly beganAt?: number } =>
    beganAt === undefined ? {} : { beganAt: inbox.store.now() - Math.round(performance.now() - beganAt) };

  /** The number of calls that wait for a late text. */
  let landing = 0;
  const landed = async (seat: Seat, late: NonNullable<Call['landed']>): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, LANDING_MS)));
    landing += 1;
    await Promise.race([late().then(() => seat.delivered()), over]);
    landing -= 1;
    clearTimeout(timer);
  };

  const before = async (seat: Seat, call: Call): Promise<Verdict> => {
    const conversation = await seat.working();
    if (conversation.policy().interrupt !== 'before') return { kind: 'pass' };
    // The call itself confirms the previous answer, so the notifications in that answer count as read.
    await seat.settled();
    const late = call.landed;
    const { made: refusal, departure } = await departures.around(conversation.address, () =>
      conversation.refuse({
        on: nameOf(call),
        ...begun(call),
        known: (gate) => seat.gate.known(gate, call, conversation),
        ...(late === undefined ? {} : { landed: () => landed(seat, late) }),
      }),
    );
    if (refusal === undefined) {
      seat.gate.down(call);
      return { kind: 'pass' };
    }
    seat.gate.refused();
    return {
      kind: 'refuse',
      text: refusal.text,
      meta: { 'earpiece/notifications': refusal.ids },
      delivery: deliveryOf(seat, refusal.offer, departure),
    };
  };
  const after = async (seat: Seat, result: Result): Promise<Ride> => {
    const conversation = await seat.working();
    const policy = conversation.policy();
    const on = nameOf(result);
    const maxChars = result.maxChars - result.chars;
    if (policy.interrupt === 'after') {
      await seat.settled();
      const { made: refusal, departure } = await departures.around(conversation.address, () =>
        conversation.refuse({ on, made: true, ...begun(result) }),
      );
      if (refusal !== undefined) {
        await conversation.withhold(on, result.raw());
        return { kind: 'replace', text: refusal.text, delivery: deliveryOf(seat, refusal.offer, departure) };
      }
    }
    return riding(seat, conversation, { on, tools: namesFor(seat.connection, result), maxChars });
  };
  const riding = async (
    seat: Seat,
    conversation: Conversation,
    { on, tools, maxChars }: { on: string; tools: readonly string[]; maxChars?: number },
  ): Promise<Exclude<Ride, { kind: 'replace' }>> => {
    if (isSubagent(seat.connection)) return { kind: 'none' };
    // Each early refusal has shown interrupts to the model, so the refusals are recorded first.
    await seat.early.settled();
    if (isSignal(conversation.options.view ?? conversation.policy().view)) {
      const signal = await conversation.signal({ at: 'tool_result' });
      return { kind: 'ride', text: signal.waiting ? signal.text : '', signal: signal.text, delivery: noDelivery };
    }
    const missed = (names: readonly string[]): void => names.forEach((name) => seat.missed.add(name));
    const due = [...new Set([...tools, ...seat.missed])];
    seat.missed.clear();
    const { made: offered, departure } = await departures
      .around(conversation.address, async () => ({
        offer: await conversation.offer({ at: 'tool_result', on, tools: due, ...defined({ maxChars }) }),
      }))
      .catch((error: unknown) => {
        missed(due);
        throw error;
      });
    const { offer } = offered;
    if (offer === undefined) return { kind: 'none' };
    const { leaseMs } = conversation.policy();
    const stands = async (result?: Result): Promise<boolean> => {
      const names = result === undefined ? [] : namesFor(seat.connection, result);
      const passed = [...due, ...seat.missed, ...names];
      // The heir of a conversation gets the notifications only after the release.
      if ((await seat.conversation()) === conversation && (await mayStillSend(conversation, offer, passed))) {
        missed(names);
        return true;
      }
      missed(due);
      departure.end();
      await seat.settling(offer.release('late'));
      return false;
    };
    const made = deliveryOf(seat, offer, departure);
    const delivery: Delivery = {
      ...made,
      release: (reason) => {
        if (reason === 'late') missed(due);
        made.release(reason);
      },
    };
    return { kind: 'ride', text: offer.view.text, delivery, leaseMs, stands };
  };
  const boxedTool = async (connection: Connection, call: OwnCall, box: Toolbox): Promise<OwnAnswer> => {
    const seat = calledOn(connection);
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
  /**
   * Runs a tool for tasks. The tool passes every gate, and its answer can carry notifications even if the tool fails. The answer
   * is never replaced.
   */
  const taskTool = async (connection: Connection, call: OwnCall): Promise<OwnAnswer> => {
    const seat = calledOn(connection);
    let conversation: Conversation | undefined;
    let result: CallToolResult;
    let carries = true;
    try {
      conversation = await speakerOf(inbox, seat, tokenOf(call));
      // This call proves that the agent read the previous answer, with the interrupts in it.
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
    const room = roomAfter(result, connection.profile);
    // The tool has already run, so a failure to add notifications must not fail the call.
    const ride = await riding(seat, conversation, {
      on: call.tool,
      tools: [...new Set([call.tool, namesOn(connection)(call.tool)])],
      ...(Number.isFinite(room) ? { maxChars: room } : {}),
    }).catch((): Ride => ({ kind: 'none' }));
    if (ride.kind !== 'ride') return { result, ...noDelivery };
    if (sizeOf(connection.profile)(ride.text) > room) {
      ride.delivery.release('too_big');
      return { result, ...noDelivery };
    }
    return {
      result: {
        ...result,
        content: [...result.content, ...(ride.text === '' ? [] : text(ride.text).content)],
        ...(ride.signal === undefined ? {} : { [SIGNAL]: ride.signal }),
      },
      ...ride.delivery,
      again: () => ({ result, ...noDelivery }),
    };
  };
  const pulling = async (connection: Connection, call: OwnCall): Promise<OwnAnswer> => {
    try {
      const { markAsRead, token: given } = readArguments(call.args);
      if (isSubagent(connection)) return { result: text(SUBAGENT_READS_NONE), ...noDelivery };
      const seat = calledOn(connection);
      const conversation = await speakerOf(inbox, seat, given);
      // The agent has read the previous answer, so the notifications of that answer are not listed again.
      await seat.settled();
      // In an identified conversation, the client needs no token, and must not show the token to other programs.
      const token = seat.bound ? {} : { session_token: await sessionTokenOf(inbox.store, conversation) };
      const how = { token, ...(markAsRead ? { again: namesOn(connection)(call.tool) } : {}) };
      const fits = fitsOn(connection.profile, how);
      const { made: pulled, departure } = await departures.around(conversation.address, () =>
        conversation.pull({ mark: markAsRead, ...defined({ fits }) }),
      );
      return {
        result: text(answerText(pulled, how)),
        ...deliveryOf(seat, pulled.offer, departure),
        again: () => pulling(connection, call),
      };
    } catch (error) {
      return { result: { ...text(messageOf(error)), isError: true }, ...noDelivery };
    }
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
      return pulling(connection, call);
    },

    before(connection: Connection, call: Call): Awaitable<Verdict> {
      const seat = calledOn(connection);
      const isSub = isSubagent(connection);
      if (!isSub) works(seat, call.server);
      if (seat.quiet() !== undefined) return PASS;
      return orPass(isSub ? beforeSubagent(seat, call) : before(seat, call), PASS);
    },

    after(connection: Connection, result: Result): Awaitable<Ride> {
      const seat = seatOf(connection);
      return isSubagent(connection) || seat.quiet() === 'silent' ? NONE : orPass(after(seat, result), NONE);
    },

    held(connection: Connection, call: Call): Verdict | undefined {
      const seat = seatOf(connection);
      const gate = seat.gate.held(call);
      // The refusal of a sub-agent shows no interrupt, so the refusal is not recorded.
      if (isSubagent(connection))
        return gate !== undefined || mainOf(seat, seats.values())?.gate.isUp === true ? REFUSE_SUBAGENT : undefined;
      if (gate === undefined) return undefined;
      const { conversation, text, ids, states } = gate;
      const ended = seat.early.keep({ conversation, refusal: { text, ids, on: nameOf(call), at: inbox.store.now() } });
      const delivery = departures.of(conversation.address, states).of(noDelivery);
      return { kind: 'refuse', text, meta: { 'earpiece/notifications': ids }, delivery, ended };
    },
    silent: (connection: Connection): boolean => isSubagent(connection) || seatOf(connection).quiet() === 'silent',
    working: () => landing > 0 || (inbox.lines?.busy?.() ?? false),

    async instructions(connection: Connection): Promise<string | undefined> {
      const seat = seatOf(connection);
      const conversation = await seat.conversation();
      // The texts of the signal views have no mark, so there is nothing to explain.
      if (isSignal(conversation.options.view ?? conversation.policy().view)) return undefined;
      const mark = await inbox.mark(conversation.log);
      seat.said(mark);
      return instructionsOf(mark);
    },

    opened(connection: Connection): void {
      settle(seatOf(connection).opened());
    },

    closed(connection: Connection, how?: Ended): void {
      const seat = seats.get(connection.key);
      seats.delete(connection.key);
      if (seat) settle(seat.closed(how));
    },

    upstream(event: UpstreamEvent, of?: Connection['key']): void {
      if (event.state !== 'introduced') settled.add(event.server);
      const all = [...seats.values()].filter(({ connection, client }) =>
        of === undefined ? true : (client?.connection ?? connection).key === of,
      );
      // Each session of a client gets the event. The seat of the client itself gets the event only if no session has called.
      const hearing = all.filter(({ connection }) => !isSubagent(connection));
      const clients = new Set(hearing.map(({ client }) => client));
      for (const seat of hearing) if (!clients.has(seat)) tell(seat, event);
    },
  };
}

/** Returns how many characters (or bytes) the client can show after this result of one of the gateway's own tools. */
function roomAfter({ content, isError }: CallToolResult, profile: Profile): number {
  const shown = content.reduce(
    (sum, block) =>
      sum + sizeOf(profile)('text' in block ? String(block.text) : JSON.stringify(block)) + (profile.joined?.breaks ?? 0),
    0,
  );
  return (isError ? profile.maxErrorChars : profile.maxResultChars) - shown;
}

const NONE: Ride = { kind: 'none' };
const text = (body: string): CallToolResult => ({ content: [{ type: 'text', text: body }] });
/** Returns the names that `after:<tool>` may use for a tool: `server:tool`, `tool`, and the name in the client's list. */
const namesFor = ({ shown }: Connection, call: Call): readonly string[] => [
  ...new Set([nameOf(call), call.tool, shown?.(call.server, call.tool) ?? call.tool]),
];

const nameOf = (call: Call): string => (call.server === '' ? call.tool : `${call.server}:${call.tool}`);
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
