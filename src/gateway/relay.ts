import { Answering } from './answering.ts';
import { answering, carry, leaving, type OpenCall, type Outgoing } from './riding/carry.ts';
import { resumedAt, progressIn } from './event-streams.ts';
import { failing } from './failing.ts';
import { Held } from './held.ts';
import { Questions } from './questions.ts';
import { SetUp } from './set-up.ts';
import { concernsTools, isAwaited, isOwn, ToolCalls, type Open } from './tool-calls.ts';
import {
  asLine,
  errorFrame,
  frameOf,
  type Batch,
  type Frame,
  type Note,
  type Request,
  type Success,
  cancelledBy,
} from '../mcp/frames/frame.ts';
import type { GuardedRider } from './riding/guarded.ts';
import { textOf } from '../mcp/frames/json.ts';
import { isHandshake, withInstructions } from './riding/instructions.ts';
import { Lane } from './riding/lane.ts';
import { OwnTools } from './riding/own-tools.ts';
import { profileOf, type Profile } from './riding/profiles.ts';
import { clientInfoAt, clientInfoOf, INTERNAL_ERROR, staysOpen, type ClientInfo } from '../mcp/frames/protocol.ts';
import type { Connection } from './riding/rider.ts';
import type { Settling } from './riding/settling.ts';
import type { Catalog, SchemaKind } from './riding/tools.ts';
import { elementsOf, idsIn, isAnswer, isPlainAnswer, Unanswered, Unasked } from './unasked.ts';

/** How long a request waits for a server that is being restarted. */
const HOLD_MS = 5_000;

export type RelayOptions = {
  readonly server: string;
  readonly rider: GuardedRider;
  readonly catalog: Catalog;
  /** The key of the connection. `session`: the conversation of the client, if known. */
  readonly key: string;
  readonly session?: string;
  readonly profile?: (client: ClientInfo | undefined) => Profile;
  /**
   * Set if this relay serves one of several servers. In that case, the multiplexer has the connection and the gateway's own
   * tools.
   */
  readonly partOf?: { readonly connection: () => Connection };
  /** The deliveries to the client that are not settled. The channel to the client confirms or releases these deliveries. */
  readonly settling: Settling;
  readonly toClient: (out: Outgoing) => void;
  readonly toServer: (frame: Frame) => void;
  readonly holdMs?: number;
  readonly report: (line: string) => void;
};

/**
 * Passes frames between one client and one server, usually byte for byte. The relay changes results of tools/list and tools/call,
 * the instructions in the handshake, and the cursor of a resumed stream. The relay splits a client's batch that contains a
 * tools/call or a tools/list, and drops answers that belong to no open request. The relay answers refused calls and calls of the
 * gateway's tools itself. Requests keep their ids, so an answer is recognized by its id.
 *
 * State `up`: frames pass. `serverDown` answers the requests that the server has received, holds open streams, and leads to
 * `down`. State `down`: requests are held for at most `holdMs`. Other frames are dropped, because they were for the ended
 * process. `serverUp` leads to `replaying`. State `replaying`: the new process gets the handshake, the client's setup and the
 * held requests. State `gone`, after `serverGone` or without an accepted handshake: each request is answered with the reason.
 */
export class Relay {
  readonly #options: RelayOptions;
  readonly #open = new Map<string, Open>();
  readonly #clientLane: Lane<Outgoing>;
  readonly #serverLane: Lane<Frame>;
  readonly #answering = new Answering();
  /** The ids of the open requests of this server process. The server may answer each of them once. */
  readonly #unanswered = new Unanswered();
  readonly #unasked: Unasked;
  #state: 'up' | 'down' | 'replaying' | 'gone' = 'up';
  #whyGone = '';
  readonly #held: Held;
  readonly #questions: Questions;
  readonly #setUp = new SetUp();
  /** Resolves when the client has identified itself. */
  readonly introduced: Promise<void>;
  readonly #introduce: () => void;
  #connection: Connection | undefined;
  #identity: string | undefined;
  readonly #own: OwnTools;
  readonly #calls: ToolCalls;
  #closed = false;

  constructor(options: RelayOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.introduced = promise;
    this.#introduce = resolve;
    this.#unasked = new Unasked(options.server, options.report);
    this.#clientLane = new Lane((out) => this.#leaves(out));
    this.#serverLane = new Lane((frame) => this.#deliver(frame));
    this.#own = new OwnTools(options.partOf ? undefined : options.rider, options.catalog, (params) =>
      this.#state === 'up' ? this.#questions.ask('tools/list', params) : Promise.resolve(undefined),
    );
    this.#questions = new Questions((request, id) => {
      this.#unanswered.add(id);
      options.toServer(request);
    });
    this.#calls = new ToolCalls({
      ...options,
      own: this.#own,
      open: this.#open,
      toServer: (frame) => this.#serverLane.push(frame),
      // These answers wait for no frame of the server, so they skip the lane, in which a newer text could overtake them.
      toClient: (out, call) => {
        this.#answering.add(call);
        this.#leaves(out);
      },
    });
    const { holdMs = HOLD_MS, server } = options;
    this.#held = new Held(holdMs, ({ id }) =>
      this.#lost(id, `The MCP server "${server}" has stopped and did not return within ${holdMs / 1000} s. Try again later.`),
    );
  }

  fromClient(frame: Frame): void {
    this.#options.settling.clientSent(frame);
    switch (frame.kind) {
      case 'request':
        return this.#request(frame);
      case 'note':
        return this.#note(frame);
      case 'batch':
        if (!frame.elements.some((at) => concernsTools(frame.bytes.subarray(at.start, at.end))))
          return this.#serverLane.push(frame);
        // Each call of a batch is handled separately, so that the gate decides each call.
        for (const at of frame.elements) this.fromClient(frameOf(asLine(frame.bytes.subarray(at.start, at.end))));
        return;
      case 'success':
      case 'failure':
      case 'opaque':
        return this.#serverLane.push(frame);
      default:
        return frame satisfies never;
    }
  }

  fromServer(frame: Frame): void {
    if (frame.kind === 'note') this.#streamed(frame);
    if (frame.kind === 'batch') return this.#batch(frame);
    if (!isAnswer(frame)) return this.#pass(frame);
    if (!isPlainAnswer(frame) || !this.#unanswered.delete(frame.id)) return this.#unasked.drop(frame.id);
    if (this.#questions.answered(frame)) return;
    const open = this.#open.get(frame.id);
    if (open === undefined) {
      // An id that the gateway did not make belongs to a request of a batch. A late answer to a request of the gateway is
      // dropped.
      if (!this.#questions.owns(frame.id)) this.#pass(frame);
      return;
    }
    this.#open.delete(frame.id);
    switch (open.kind) {
      case 'call':
        if (frame.kind === 'failure') return this.#pass(frame);
        return this.#carry(open.call, this.#options.catalog.schemaOf(open.call.tool), frame);
      case 'list':
        return frame.kind === 'success' ? this.#list(open.connection, frame) : this.#pass(frame);
      case 'other':
        if (frame.kind === 'success') this.#setUp.accepted(open.request);
        if (frame.kind === 'success' && !this.#options.partOf && isHandshake(open.request.method)) return this.#greet(frame);
        return this.#pass(frame);
      case 'own':
        return; // The request does not reach the server.
      default:
        return open satisfies never;
    }
  }

  /**
   * Handles a batch from the server. A batch passes unchanged if each of its answers belongs to a request of a client's batch. In
   * any other batch, each frame is handled separately, and an answer may be changed or dropped.
   */
  #batch(frame: Batch): void {
    const elements = elementsOf(frame);
    const answers = elements.filter(isAnswer);
    const waits = (id: string): boolean => this.#unanswered.has(id) && !this.#open.has(id);
    if (answers.every((each) => isPlainAnswer(each) && waits(each.id)) && new Set(idsOf(answers)).size === answers.length) {
      for (const id of idsOf(answers)) this.#unanswered.delete(id);
      return this.#pass(frame);
    }
    for (const { kind, bytes } of elements) if (kind !== 'batch') this.fromServer(frameOf(asLine(bytes)));
  }

  /** Marks a call whose client has disconnected as cancelled, so that the answer has no notification. */
  abandon(id: string): void {
    const open = this.#open.get(id);
    if (open?.kind === 'call' || open?.kind === 'own') open.call.cancelled = true;
    this.#answering.cancel(id);
  }

  /** Records that the client has ended its input. Open calls are still answered, but without notifications. */
  clientEnded(): void {
    this.#answering.clientEnded();
  }

  /** Answers a request whose answer from the server was lost, for example because the frame was too long. */
  lostAnswer(id: string, why: string): void {
    if (this.#unanswered.delete(id)) this.#lost(id, why);
  }

  #lost(id: string, why: string): void {
    this.#questions.lost(id, why);
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    this.#refuseWith(id, open, why);
  }

  serverDown(why: string): void {
    if (this.#closed) return;
    this.#state = 'down';
    this.#unanswered.clear();
    this.#questions.allLost();
    for (const [id, open] of this.#open) {
      if (this.#held.has(id) || open.kind === 'own' || (open.kind === 'call' && open.phase === 'asking')) continue;
      this.#open.delete(id);
      if (open.kind === 'other' && staysOpen(open.request)) this.#hold(resumedAt(open.request, open.cursor));
      else this.#refuseWith(id, open, why);
    }
  }

  /** Connects a new process. Resolves to true, or to the reason if its handshake failed. Undefined if the process ended first. */
  async serverUp(): Promise<true | string | undefined> {
    if (this.#closed || this.#state === 'gone') return undefined;
    this.#state = 'replaying';
    return this.#replay();
  }

  /** Records that the server cannot be used. Open, held and later requests are answered with the reason. */
  serverGone(why: string): void {
    this.serverDown(why);
    this.#state = 'gone';
    this.#whyGone = why;
    for (const { id } of this.#held.take()) this.#lost(id, why);
  }

  /** Whether the client or the gateway waits for an answer. A stream that stays open does not count. */
  get busy(): boolean {
    return this.#questions.pending || [...this.#open.values()].some(isAwaited);
  }

  /** Whether a request or an answer waits for the rider, or a request waits for the start of the server. */
  get holding(): boolean {
    const isStarting = this.#held.size > 0 || (this.busy && !this.#unanswered.hasAnswered);
    return isStarting || !this.#serverLane.idle || !this.#clientLane.idle || [...this.#open.values()].some(isOwn);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#held.take();
    for (const open of this.#open.values()) if (open.kind === 'call' || open.kind === 'own') open.call.cancelled = true;
    this.#unasked.end();
    this.#options.settling.end();
    if (this.#connection) this.#options.rider.closed(this.#connection);
  }

  #request(frame: Request): void {
    // If the client reuses an id, a late answer to the abandoned request must not count as the answer to the new request.
    if (!this.#open.has(frame.id)) this.#unanswered.forget(frame.id);
    const connection = this.#identify(frame);
    if (frame.method === 'tools/list') this.#open.set(frame.id, { kind: 'list', connection, request: frame });
    else if (frame.method === 'tools/call') return this.#calls.call(frame, connection);
    else this.#open.set(frame.id, { kind: 'other', request: frame });
    this.#serverLane.push(frame);
  }

  #note(frame: Frame & { kind: 'note' }): void {
    if (frame.method === 'tools/call')
      return this.#calls.withoutId(frame, this.#options.partOf?.connection() ?? this.#connection);
    if (frame.method === 'notifications/initialized') this.#setUp.initialized = frame;
    const cancelled = cancelledBy(frame);
    const open = cancelled === undefined ? undefined : this.#open.get(cancelled);
    if (cancelled !== undefined) this.abandon(cancelled);
    // The server never received the request, so the gateway must not pass the cancel on.
    if (open?.kind === 'own' || (open?.kind === 'call' && open.phase === 'asking')) return;
    if (cancelled !== undefined && this.#held.drop(cancelled)) {
      this.#open.delete(cancelled);
      return;
    }
    this.#serverLane.push(frame);
  }

  #identify(frame: Request): Connection {
    if (this.#options.partOf) return this.#options.partOf.connection();
    const at = clientInfoAt(frame);
    const identity = at && textOf(frame.bytes, at);
    if (this.#connection !== undefined && (identity === undefined || identity === this.#identity)) return this.#connection;
    if (this.#connection !== undefined) this.#options.rider.closed(this.#connection);
    const { key, session, profile = profileOf, rider } = this.#options;
    const client = clientInfoOf(frame);
    const connection: Connection = {
      key,
      ...(client && { client }),
      ...(session !== undefined && { session }),
      profile: profile(client),
      nameOf: (tool) => this.#own.nameOf(connection, tool),
    };
    this.#identity = identity;
    this.#connection = connection;
    this.#options.settling.cancelsAnswered = connection.profile.cancelsAnswered === true;
    rider.opened(connection);
    this.#introduce();
    return connection;
  }

  /** Sends the server's handshake answer to the client, with the gateway's text after the server's instructions. */
  #greet(frame: Success): void {
    const { rider } = this.#options;
    const connection = this.#connection;
    if (connection === undefined) return this.#pass(frame);
    const put = (text: string | undefined): Outgoing =>
      answering(frame, text === undefined ? frame.bytes : withInstructions(frame, text));
    const text = rider.instructions(connection);
    this.#clientLane.push(text instanceof Promise ? text.then(put) : put(text));
  }

  #carry(call: OpenCall, schema: SchemaKind | undefined, frame: Success): void {
    this.#answering.add(call);
    this.#clientLane.push(carry(this.#options.rider, call, schema, frame));
  }

  #list(connection: Connection, frame: Success): void {
    const listed = this.#own.listed(connection, frame);
    this.#clientLane.push(listed instanceof Promise ? listed.then((bytes) => answering(frame, bytes)) : answering(frame, listed));
  }

  #pass(frame: Frame): void {
    this.#clientLane.push({ bytes: frame.bytes, frame });
  }

  #leaves(out: Outgoing): void {
    this.#options.toClient(leaving(this.#answering.leaving(out)));
  }

  #deliver(frame: Frame): void {
    if (this.#state === 'up') this.#send(frame);
    else if (frame.kind !== 'request') return;
    else if (this.#state === 'gone') this.#lost(frame.id, this.#whyGone);
    else this.#hold(frame);
  }

  #send(frame: Frame): void {
    for (const id of idsIn(frame)) this.#unanswered.add(id);
    this.#options.toServer(frame);
  }

  #hold(frame: Request): void {
    this.#held.hold(frame);
    if (!this.#open.has(frame.id)) this.#open.set(frame.id, { kind: 'other', request: frame });
  }

  /** Answers a request in place of the server: see `failing`. */
  #refuseWith(id: string, open: Open, why: string): void {
    switch (open.kind) {
      case 'call':
        if (open.call.cancelled) return;
        return this.#carry(open.call, 'none', frameOf(failing(open.request, why).bytes) as Success);
      case 'list':
      case 'other':
        return this.#clientLane.push({ bytes: errorFrame(id, INTERNAL_ERROR, why, { server: this.#options.server }) });
      case 'own':
        return;
      default:
        return open satisfies never;
    }
  }

  #streamed(note: Note): void {
    const { stream, cursor } = progressIn(note) ?? {};
    const open = stream === undefined ? undefined : this.#open.get(stream);
    if (open?.kind === 'other' && open.request.method === 'events/stream' && cursor !== undefined) open.cursor = cursor;
  }

  async #replay(): Promise<true | string | undefined> {
    const { initialize, initialized, requests } = this.#setUp;
    if (initialize !== undefined) {
      const why = await this.#questions.handshake(initialize);
      if (this.#state !== 'replaying' || this.#closed) return undefined;
      if (why !== undefined) {
        this.serverGone(`The MCP server "${this.#options.server}" does not work: ${why}.`);
        return why;
      }
      if (initialized !== undefined) this.#options.toServer(initialized);
      for (const request of requests) void this.#questions.again(request);
    }
    this.#state = 'up';
    for (const request of this.#held.take()) this.#send(request);
    return true;
  }
}

const idsOf = (frames: readonly { readonly id: string }[]): string[] => frames.map(({ id }) => id);
