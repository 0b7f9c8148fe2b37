import { carry, type OpenCall, type Outgoing } from './riding/carry.ts';
import {
  asLine,
  errorFrame,
  frameOf,
  idOf,
  param,
  resultFrame,
  type Batch,
  type Failure,
  type Frame,
  type Note,
  type Request,
  type Success,
  cancelledBy,
} from '../mcp/frames/frame.ts';
import type { GuardedRider } from './riding/guarded.ts';
import { addMember, edited, member, objectAt, stringAt, textOf } from '../mcp/frames/json.ts';
import { isHandshake, withInstructions } from './riding/instructions.ts';
import { Lane } from './riding/lane.ts';
import { answerOwn, OwnTools } from './riding/own-tools.ts';
import { profileOf, type Profile } from './riding/profiles.ts';
import {
  clientInfoAt,
  clientInfoOf,
  INTERNAL_ERROR,
  isStateless,
  META_SUBSCRIPTION,
  staysOpen,
  toolOf,
  type ClientInfo,
} from '../mcp/frames/protocol.ts';
import type { Awaitable, Connection, Verdict } from './riding/rider.ts';
import type { Settling } from './riding/settling.ts';
import type { Catalog, SchemaKind } from './riding/tools.ts';
import { elementsOf, idsIn, isAnswer, isPlainAnswer, Unanswered, Unasked } from './unasked.ts';

/** How long a request waits for a server that is being restarted. */
const HOLD_MS = 5_000;

/** How long a question of our own (the upstream's tools/list) may take, and how long a new process may take to start. */
const ASK_MS = 2_000;
const START_MS = 30_000;

/** What the ids of our own questions begin with. */
const OURS = '"earpiece-';

export type RelayOptions = {
  readonly server: string;
  readonly rider: GuardedRider;
  readonly catalog: Catalog;
  /** The connection's key, and the conversation when it was named. */
  readonly key: string;
  readonly session?: string;
  readonly profile?: (client: ClientInfo | undefined) => Profile;
  /** One server of several: whose the connection is and what own tools there are is somebody else's business. */
  readonly partOf?: { readonly connection: () => Connection };
  /** The channel to the client settles its delivery through `settling`. */
  readonly settling: Settling;
  readonly toClient: (out: Outgoing) => void;
  readonly toServer: (bytes: Buffer) => void;
  readonly holdMs?: number;
  readonly report: (line: string) => void;
};

/**
 * One client and one server, and between them the same bytes that they would send each other directly. Changed are only:
 * tools/list and tools/call results as the profile needs it, calls of own tools, and refused calls. The handshake is the
 * server's. Requests keep their ids, so an answer is known by its id.
 *
 * up: frames pass. `serverDown` answers what is open and leads to down.
 * down: requests are held (at most `holdMs`), the rest is dropped: it was meant for a process that is gone. `serverUp` → replaying.
 * replaying: the handshake and what the client had set up is said again to the new process; then what was held goes out → up.
 */
export class Relay {
  readonly #options: RelayOptions;
  readonly #open = new Map<string, Open>();
  readonly #clientLane: Lane<Outgoing>;
  readonly #serverLane: Lane<Frame>;
  /** Calls whose answer is here but not on its way yet: it waits for the rider, or behind one that does. */
  readonly #answering = new Map<string, OpenCall>();
  /** The ids of the requests that this process of the server was sent and has not answered: it may answer these, each once. */
  readonly #unanswered = new Unanswered();
  readonly #unasked: Unasked;
  #state: 'up' | 'down' | 'replaying' | 'gone' = 'up';
  #whyGone = '';
  #held = new Map<string, { readonly frame: Request; readonly timer: NodeJS.Timeout }>();
  /** Resolves when the client has said who it is. */
  readonly introduced: Promise<void>;
  readonly #introduce: () => void;
  #connection: Connection | undefined;
  #identity: string | undefined;
  readonly #own: OwnTools;
  #asked = 0;
  #closed = false;
  #saidWithoutId = false;
  /** What the client set up, to say it again to a new process. */
  readonly #setUp: { initialize?: Request; initialized?: Buffer; logging?: Request; readonly subscribed: Map<string, Request> } =
    {
      subscribed: new Map(),
    };

  constructor(options: RelayOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.introduced = promise;
    this.#introduce = resolve;
    this.#unasked = new Unasked(options.server, options.report);
    this.#clientLane = new Lane((out) => this.#emit(out));
    this.#serverLane = new Lane((frame) => this.#deliver(frame));
    this.#own = new OwnTools(options.partOf ? undefined : options.rider, options.catalog, (params) =>
      this.#ask('tools/list', params),
    );
  }

  fromClient(frame: Frame): void {
    this.#options.settling.heard(frame);
    switch (frame.kind) {
      case 'request':
        return this.#request(frame);
      case 'note':
        return this.#note(frame);
      case 'batch':
        if (!frame.elements.some((at) => concernsTools(frame.bytes.subarray(at.start, at.end))))
          return this.#serverLane.push(frame);
        // A batch would hide calls from the gate; one by one they mean the same.
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
    if (!isAnswer(frame)) return this.#pass(frame.bytes);
    if (!isPlainAnswer(frame) || !this.#unanswered.delete(frame.id)) return this.#unasked.drop(frame.id);
    const open = this.#open.get(frame.id);
    if (open === undefined) {
      // The gateway gave up its own question: the client gets no answer to it. Other ids belong to requests of a batch.
      if (!frame.id.startsWith(OURS)) this.#pass(frame.bytes);
      return;
    }
    this.#open.delete(frame.id);
    switch (open.kind) {
      case 'call':
        if (frame.kind === 'failure') return this.#pass(frame.bytes);
        return this.#carry(open.call, this.#options.catalog.schemaOf(open.call.tool), frame);
      case 'list':
        return frame.kind === 'success' ? this.#list(open.connection, frame) : this.#pass(frame.bytes);
      case 'ours':
        return open.answer(frame);
      case 'other':
        if (frame.kind === 'success') this.#remember(open.request);
        if (frame.kind === 'success' && !this.#options.partOf && isHandshake(open.request.method)) return this.#greet(frame);
        return this.#pass(frame.bytes);
      case 'own':
        return; // It is never sent to the server.
      default:
        return open satisfies never;
    }
  }

  /** The answers to a batch pass as they are. In any other batch each answer is one for itself: it may be changed, or dropped. */
  #batch(frame: Batch): void {
    const elements = elementsOf(frame);
    const answers = elements.filter(isAnswer);
    const waits = (id: string): boolean => this.#unanswered.has(id) && !this.#open.has(id);
    if (answers.every((each) => isPlainAnswer(each) && waits(each.id)) && new Set(idsOf(answers)).size === answers.length) {
      for (const id of idsOf(answers)) this.#unanswered.delete(id);
      return this.#pass(frame.bytes);
    }
    for (const { kind, bytes } of elements) if (kind !== 'batch') this.fromServer(frameOf(asLine(bytes)));
  }

  /** The client does not want this answer any more, but has not told the server so (it hung up). */
  abandon(id: string): void {
    const open = this.#open.get(id);
    if (open?.kind === 'call' || open?.kind === 'own') open.call.cancelled = true;
    const answering = this.#answering.get(id);
    if (answering) answering.cancelled = true;
  }

  /** The server sent a frame that is too long to hold. `id` is the request that it answered, when that can be told. */
  lostAnswer(id: string, why: string): void {
    if (this.#unanswered.delete(id)) this.#lost(id, why);
  }

  #lost(id: string, why: string): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#open.delete(id);
    this.#refuseWith(id, open, why);
  }

  serverDown(why: string): void {
    if (this.#closed) return;
    this.#state = 'down';
    this.#unanswered.clear();
    for (const [id, open] of this.#open) {
      if (this.#held.has(id) || open.kind === 'own' || (open.kind === 'call' && open.phase === 'asking')) continue;
      this.#open.delete(id);
      if (open.kind === 'other' && staysOpen(open.request)) this.#hold(goingOn(open.request, open.cursor));
      else this.#refuseWith(id, open, why);
    }
  }

  /** True when the new process took over, false when it refused, undefined when it is gone again before it could do either. */
  async serverUp(): Promise<boolean | undefined> {
    if (this.#closed || this.#state === 'gone') return undefined;
    this.#state = 'replaying';
    return this.#replay();
  }

  /** There will be no server: what is held is answered, and what comes is answered at once. */
  serverGone(why: string): void {
    this.serverDown(why);
    this.#state = 'gone';
    this.#whyGone = why;
    for (const [id, { timer }] of this.#held) {
      clearTimeout(timer);
      const open = this.#open.get(id);
      this.#open.delete(id);
      if (open) this.#refuseWith(id, open, why);
    }
    this.#held.clear();
  }

  /** True while the client waits for an answer. */
  get busy(): boolean {
    return this.#open.size > 0;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const { timer } of this.#held.values()) clearTimeout(timer);
    for (const open of this.#open.values()) if (open.kind === 'call' || open.kind === 'own') open.call.cancelled = true;
    this.#unasked.end();
    this.#options.settling.end();
    if (this.#connection) this.#options.rider.closed(this.#connection);
  }

  #request(frame: Request): void {
    // The client uses the id anew: a late answer to what it has given up must not pass for the answer to this.
    if (!this.#open.has(frame.id)) this.#unanswered.forget(frame.id);
    const connection = this.#identify(frame);
    if (frame.method === 'tools/list') this.#open.set(frame.id, { kind: 'list', connection, request: frame });
    else if (frame.method === 'tools/call') return this.#call(frame, connection);
    else this.#open.set(frame.id, { kind: 'other', request: frame });
    this.#serverLane.push(frame);
  }

  #note(frame: Frame & { kind: 'note' }): void {
    if (frame.method === 'tools/call') return this.#callWithoutId(frame);
    if (frame.method === 'notifications/initialized') this.#setUp.initialized = frame.bytes;
    const cancelled = cancelledBy(frame);
    const open = cancelled === undefined ? undefined : this.#open.get(cancelled);
    const answering = cancelled === undefined ? undefined : this.#answering.get(cancelled);
    if (answering !== undefined) answering.cancelled = true;
    if (cancelled !== undefined && open !== undefined && (open.kind === 'call' || open.kind === 'own')) {
      open.call.cancelled = true;
      // The server never saw it, so there is nothing that it could stop.
      if (open.kind === 'own' || open.phase === 'asking') return;
    }
    if (cancelled !== undefined && this.#held.has(cancelled)) {
      clearTimeout(this.#held.get(cancelled)!.timer);
      this.#held.delete(cancelled);
      this.#open.delete(cancelled);
      return;
    }
    this.#serverLane.push(frame);
  }

  #call(frame: Request, connection: Connection): void {
    const name = toolOf(frame);
    if (name === undefined) {
      this.#open.set(frame.id, { kind: 'other', request: frame });
      return this.#serverLane.push(frame);
    }
    const beganAt = performance.now();
    const call: OpenCall = {
      server: this.#options.server,
      tool: name,
      requestId: frame.id,
      beganAt,
      connection,
      cancelled: false,
    };
    const own = this.#own.meant(frame, connection, name);
    if (typeof own === 'string') return this.#callOwn(frame, call, own);

    const open: Open & { kind: 'call' } = { kind: 'call', call, request: frame, phase: 'asking' };
    this.#open.set(frame.id, open);
    const decide = (verdict: Verdict): Frame | undefined => {
      if (call.cancelled) {
        this.#open.delete(frame.id);
        if (verdict.kind === 'refuse') verdict.delivery?.release('cancelled');
        return undefined;
      }
      if (verdict.kind === 'pass') {
        open.phase = 'running';
        return frame;
      }
      this.#open.delete(frame.id);
      this.#clientLane.push(refusal(frame, verdict));
      return undefined;
    };
    const ask = (): Awaitable<Verdict> => this.#options.rider.before(connection, call);
    if (own instanceof Promise) {
      this.#serverLane.push(
        own.then(async (meant) => {
          if (meant === undefined) return decide(await ask());
          this.#open.delete(frame.id);
          this.#callOwn(frame, call, meant);
          return undefined;
        }),
      );
      return;
    }
    const verdict = ask();
    this.#serverLane.push(verdict instanceof Promise ? verdict.then(decide) : decide(verdict));
  }

  /** A server may run a call without an id. No refusal can answer it, so the gateway drops it while the gate is up. */
  #callWithoutId(frame: Note): void {
    const { partOf, report, rider, server } = this.#options;
    const connection = partOf ? partOf.connection() : this.#connection;
    const tool = toolOf(frame) ?? '';
    const decide = (verdict: Verdict | undefined): Note | undefined => {
      if (verdict?.kind === 'pass') return frame;
      verdict?.delivery?.release('late');
      if (!this.#saidWithoutId) report(`${withoutId(tool)} while an interrupt or a pause is up; the gateway drops such calls`);
      this.#saidWithoutId = true;
      return undefined;
    };
    // Before the client has said who it is, nobody knows whether a gate is up.
    if (connection === undefined) return void decide(undefined);
    const verdict = rider.before(connection, { server, tool, requestId: 'null', beganAt: performance.now() });
    this.#serverLane.push(verdict instanceof Promise ? verdict.then(decide) : decide(verdict));
  }

  #callOwn(frame: Request, call: OpenCall, tool: string): void {
    this.#open.set(frame.id, { kind: 'own', call, request: frame });
    void this.#answerOwn(frame, call, tool);
  }

  async #answerOwn(frame: Request, call: OpenCall, tool: string): Promise<void> {
    const out = await answerOwn(this.#options.rider, frame, call, tool);
    this.#open.delete(frame.id);
    if (out) this.#clientLane.push(out);
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

  /** The server's answer to the handshake, with our words behind its instructions. */
  #greet(frame: Success): void {
    const { rider } = this.#options;
    const connection = this.#connection;
    if (connection === undefined) return this.#pass(frame.bytes);
    const put = (text: string | undefined): Outgoing => ({
      bytes: text === undefined ? frame.bytes : withInstructions(frame, text),
    });
    const text = rider.instructions(connection);
    this.#clientLane.push(text instanceof Promise ? text.then(put) : put(text));
  }

  #carry(call: OpenCall, schema: SchemaKind | undefined, frame: Success): void {
    this.#answering.set(call.requestId, call);
    this.#clientLane.push(carry(this.#options.rider, call, schema, frame));
  }

  #emit(out: Outgoing): void {
    const call = this.#answering.get(out.requestId ?? '');
    if (call === undefined) return this.#options.toClient(out);
    this.#answering.delete(call.requestId);
    if (!call.cancelled || out.delivery === undefined) return this.#options.toClient(out);
    out.delivery.release('cancelled');
    this.#options.toClient({ bytes: out.bytes });
  }

  #list(connection: Connection, frame: Success): void {
    const listed = this.#own.listed(connection, frame);
    this.#clientLane.push(listed instanceof Promise ? listed.then((bytes) => ({ bytes })) : { bytes: listed });
  }

  #pass(bytes: Buffer): void {
    this.#clientLane.push({ bytes });
  }

  #deliver(frame: Frame): void {
    if (this.#state === 'up') this.#send(frame);
    else if (frame.kind !== 'request') return;
    else if (this.#state === 'gone') this.#lost(frame.id, this.#whyGone);
    else this.#hold(frame);
  }

  #send(frame: Frame): void {
    for (const id of idsIn(frame)) this.#unanswered.add(id);
    this.#options.toServer(frame.bytes);
  }

  #hold(frame: Request): void {
    const { holdMs = HOLD_MS, server } = this.#options;
    const timer = setTimeout(() => {
      this.#held.delete(frame.id);
      this.#lost(frame.id, `The MCP server "${server}" has stopped and is not back after ${holdMs / 1000} s. Try again later.`);
    }, holdMs);
    timer.unref();
    this.#held.set(frame.id, { frame, timer });
    if (!this.#open.has(frame.id)) this.#open.set(frame.id, { kind: 'other', request: frame });
  }

  /** The answer that the client gets in the server's place. To a tools/call it is a failing result, so that the model reads it. */
  #refuseWith(id: string, open: Open, why: string): void {
    switch (open.kind) {
      case 'call': {
        if (open.call.cancelled) return;
        const result = {
          content: [{ type: 'text', text: why }],
          isError: true,
          ...(isStateless(open.request) && { resultType: 'complete' }),
        };
        const frame = frameOf(resultFrame(id, result)) as Success;
        return this.#carry(open.call, 'none', frame);
      }
      case 'ours':
        return open.answer(undefined);
      case 'list':
      case 'other':
        return this.#pass(errorFrame(id, INTERNAL_ERROR, why, { server: this.#options.server }));
      case 'own':
        return;
      default:
        return open satisfies never;
    }
  }

  /** How far an event stream has come. */
  #streamed(note: Note): void {
    if (!note.method.startsWith('notifications/events/')) return;
    const at = param(note, '_meta', META_SUBSCRIPTION);
    const open = at && this.#open.get(idOf(note.bytes, at));
    const cursor = param(note, 'cursor');
    if (open?.kind === 'other' && open.request.method === 'events/stream' && cursor !== undefined)
      open.cursor = textOf(note.bytes, cursor);
  }

  #remember(request: Request): void {
    if (request.method === 'initialize') this.#setUp.initialize = request;
    else if (request.method === 'logging/setLevel') this.#setUp.logging = request;
    else if (request.method === 'resources/subscribe' || request.method === 'resources/unsubscribe') {
      const uri = stringAt(request.bytes, param(request, 'uri'));
      if (uri === undefined) return;
      if (request.method === 'resources/subscribe') this.#setUp.subscribed.set(uri, request);
      else this.#setUp.subscribed.delete(uri);
    }
  }

  async #replay(): Promise<boolean | undefined> {
    const { initialize, initialized, logging, subscribed } = this.#setUp;
    if (initialize !== undefined) {
      const answer = await this.#askAgain(initialize, START_MS);
      if (this.#state !== 'replaying' || answer === undefined) return undefined;
      if (answer.kind !== 'success') return false;
      if (initialized !== undefined) this.#options.toServer(initialized);
      for (const request of [...(logging ? [logging] : []), ...subscribed.values()]) void this.#askAgain(request);
    }
    const held = this.#held;
    this.#held = new Map();
    this.#state = 'up';
    for (const { frame, timer } of held.values()) {
      clearTimeout(timer);
      this.#send(frame);
    }
    return true;
  }

  #ask(method: string, params: object): Promise<Success | Failure | undefined> {
    if (this.#state !== 'up') return Promise.resolve(undefined);
    return this.#askBytes((id) =>
      Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}\n`),
    );
  }

  #askAgain(request: Request, withinMs?: number): Promise<Success | Failure | undefined> {
    return this.#askBytes((id) => edited(request.bytes, [{ at: request.idAt, put: id }]), withinMs);
  }

  #askBytes(request: (id: string) => Buffer, withinMs: number = ASK_MS): Promise<Success | Failure | undefined> {
    this.#asked += 1;
    const id = `"earpiece-${this.#asked}"`;
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#open.delete(id);
        resolve(undefined);
      }, withinMs);
      timer.unref();
      const answer = (frame: Success | Failure | undefined): void => {
        clearTimeout(timer);
        resolve(frame);
      };
      this.#open.set(id, { kind: 'ours', answer });
      this.#unanswered.add(id);
      this.#options.toServer(request(id));
    });
  }
}

type Open =
  | { readonly kind: 'call'; readonly call: OpenCall; readonly request: Request; phase: 'asking' | 'running' }
  | { readonly kind: 'own'; readonly call: OpenCall; readonly request: Request }
  | { readonly kind: 'list'; readonly connection: Connection; readonly request: Request }
  | { readonly kind: 'other'; readonly request: Request; cursor?: string }
  | { readonly kind: 'ours'; readonly answer: (frame: Success | Failure | undefined) => void };

export function refusal(request: Request, verdict: Verdict & { kind: 'refuse' }): Outgoing {
  const result = {
    content: [{ type: 'text', text: verdict.text }],
    isError: true,
    ...(isStateless(request) && { resultType: 'complete' }),
    ...(verdict.meta && { _meta: verdict.meta }),
  };
  const bytes = resultFrame(request.id, result);
  return { bytes, requestId: request.id, ...(verdict.delivery && { delivery: verdict.delivery }) };
}

export const withoutId = (tool: string): string =>
  `the client sent a tools/call of ${JSON.stringify(tool.slice(0, 80))} without an id`;

/** An event stream as it is asked for again: from where it had come to. */
function goingOn(request: Request, cursor: string | undefined): Request {
  const params = request.params && objectAt(request.bytes, request.params.start);
  if (params === undefined || cursor === undefined) return request;
  const at = member(request.bytes, params, 'cursor');
  const edit = at ? { at, put: cursor } : addMember(params, 'cursor', cursor);
  return frameOf(edited(request.bytes, [edit])) as Request;
}

const idsOf = (frames: readonly { readonly id: string }[]): string[] => frames.map(({ id }) => id);

function concernsTools(element: Buffer): boolean {
  const frame = frameOf(element);
  if (frame.kind === 'note') return frame.method === 'tools/call';
  return frame.kind === 'request' && (frame.method === 'tools/call' || frame.method === 'tools/list');
}
