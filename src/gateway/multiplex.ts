import {
  asLine,
  cancelledBy,
  errorFrame,
  frameOf,
  param,
  sound,
  type Frame,
  type Note,
  type Request,
} from '../mcp/frames/frame.ts';
import { stringAt } from '../mcp/frames/json.ts';
import {
  clientInfoOf,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  STATELESS_SINCE,
  toolOf,
  versionOf,
} from '../mcp/frames/protocol.ts';
import type { StopOptions, TooLong } from '../mcp/link.ts';
import type { Upstream } from '../mcp/upstream.ts';
import { withoutId } from './failing.ts';
import { Peer } from './peer.ts';
import type { Outgoing } from './riding/carry.ts';
import { profileOf } from './riding/profiles.ts';
import type { Connection } from './riding/rider.ts';
import { refuseTooLong, type Endpoint, type SessionOptions } from './session.ts';
import { Asking } from './several/asking.ts';
import { SharedCatalog } from './several/catalog.ts';
import { crossed } from './several/crossing.ts';
import { Health } from './several/health.ts';
import { envelopeLike, introductionIn, type Introduction } from './several/introduction.ts';
import { Lists } from './several/lists.ts';
import { Refusal } from './several/refusal.ts';
import { Router } from './several/router.ts';
import { PATIENCE, Starting, within, type Patience } from './several/starting.ts';
import { Subscriptions } from './several/subscriptions.ts';
import { ownResult, welcome, type Welcome } from './several/welcome.ts';
import { isAnswer } from './unasked.ts';

export type MultiplexOptions = Pick<
  SessionOptions,
  'link' | 'rider' | 'settling' | 'channel' | 'report' | 'key' | 'session' | 'profile'
> & {
  readonly upstreams: readonly Upstream[];
  /** The separator between a server's name and the name of its tool or prompt. `__` by default. */
  readonly separator?: string;
  /** How long the client waits for each server. */
  readonly patience?: Partial<Patience>;
};

export const SEPARATOR = '__';

/**
 * Presents several servers to one client as a single server. Tools and prompts are called `<server>__<name>`. Resources keep
 * their URIs. The client and each server have separate handshakes, so a client of one protocol generation can use servers of the
 * other. Tools, resources, prompts and completion are translated between the generations. An unknown method, name or URI gets a
 * JSON-RPC error. The client's first lists have the entries of the ready servers. list_changed announces later servers.
 */
export class Multiplex implements Endpoint {
  readonly #options: MultiplexOptions;
  readonly #separator: string;
  readonly #peers: readonly Peer[];
  readonly #router: Router;
  readonly #catalog: SharedCatalog;
  readonly #asking: Asking;
  readonly #patience: Patience;
  readonly #lists: Lists;
  readonly #subscriptions: Subscriptions;
  readonly #starting: Starting;
  readonly #health: Health;
  #connection: Connection | undefined;
  #introduction: Introduction | undefined;
  #introduced: Promise<void> | undefined;
  #met = false;
  /** Whether the client is stateless. After server/discover, a client may still choose the older generation. */
  #stateless = false;
  /** The log level that the client requested. Servers that become ready later get this level too. */
  #level: string | undefined;
  #closed = false;
  /** The number of requests that the gateway has not yet passed on, refused or answered. */
  #handling = 0;
  #saidWithoutId = false;

  constructor(options: MultiplexOptions) {
    this.#options = options;
    this.#health = new Health(options.rider);
    this.#separator = options.separator ?? SEPARATOR;
    this.#patience = { ...PATIENCE, ...options.patience };
    this.#peers = options.upstreams.map((upstream) => {
      const peer: Peer = new Peer({
        upstream,
        link: options.link,
        rider: options.rider,
        report: options.report,
        tell: (event) => this.#health.tell(event),
        connection: () => this.#connection!,
        toClient: (out, frame) => this.#fromPeer(peer, out, frame),
        pause: options.channel.pause,
        resume: options.channel.resume,
        discoverMs: this.#patience.discoverMs,
      });
      return peer;
    });
    this.#starting = new Starting({
      peers: this.#peers,
      patience: this.#patience,
      tell: (event) => this.#health.tell(event),
      came: (peer) => this.#becameReady(peer),
    });
    this.#lists = new Lists({
      peers: this.#peers,
      separator: this.#separator,
      listMs: this.#patience.listMs,
      report: options.report,
      envelope: (like) => envelopeLike(like, this.#introduction!.meta),
      changed: (peer, capability) => this.#changed(peer, capability),
    });
    this.#subscriptions = new Subscriptions({
      envelope: () => this.#introduction!.meta,
      ownerOf: (uri) => this.#lists.listed(uri),
    });
    this.#router = new Router({
      peers: this.#peers,
      separator: this.#separator,
      lists: this.#lists,
      starting: this.#starting,
      envelope: () => this.#introduction!.meta,
      toClient: (out) => this.#send(out),
    });
    this.#catalog = new SharedCatalog({
      rider: options.rider,
      lists: this.#lists,
      connection: () => this.#connection!,
      taken: (name) => this.#router.ownerOf(name) !== undefined,
      toClient: (out) => this.#send(out),
    });
    this.#asking = new Asking((out) => this.#send(out));
  }

  get busy(): boolean {
    return this.#router.waiting + this.#catalog.waiting > 0;
  }

  get holding(): boolean {
    return this.#handling > 0 || this.#router.holding;
  }

  clientEnded(): void {
    for (const peer of this.#peers) peer.clientEnded();
  }

  start(): void {
    for (const peer of this.#peers) peer.run();
  }

  fromClient(given: Frame): void {
    const frame = sound(given);
    this.#options.settling.clientSent(frame);
    switch (frame.kind) {
      case 'request':
        void this.#request(frame);
        return;
      case 'note':
        return this.#note(frame);
      case 'success':
      case 'failure':
        return this.#asking.answered(frame);
      case 'batch':
        for (const at of frame.elements) this.fromClient(frameOf(asLine(frame.bytes.subarray(at.start, at.end))));
        return;
      case 'opaque':
        return this.#options.report(`the client sent a line that is not a JSON-RPC message (${frame.reason})`);
      default:
        return frame satisfies never;
    }
  }

  clientFrameTooLong(frame: TooLong): void {
    refuseTooLong(frame, this.#options);
  }

  abandon(requestId: string): void {
    this.#router.peerOf(requestId)?.abandon(requestId);
    this.#catalog.cancel(requestId);
  }

  resume(): void {
    for (const peer of this.#peers) peer.continue();
  }

  async close(options?: StopOptions): Promise<void> {
    this.#starting.end();
    await Promise.all(this.#peers.map((peer) => peer.close(options)));
    if (this.#closed) return;
    this.#closed = true;
    this.#options.settling.end();
    if (this.#connection) this.#options.rider.closed(this.#connection);
  }

  async #request(frame: Request): Promise<void> {
    this.#router.forget(frame.id);
    this.#handling += 1;
    try {
      // If the client is known, the request must be routed without an `await`, because a cancel may follow at once and must find
      // the request.
      if (!this.#met) await this.#meet(frame);
      await this.#route(frame);
    } catch (error) {
      const code = error instanceof Refusal ? error.code : INTERNAL_ERROR;
      this.#send({ bytes: errorFrame(frame.id, code, error instanceof Error ? error.message : String(error)) });
    } finally {
      this.#handling -= 1;
    }
  }

  #route(frame: Request): void | Promise<void> {
    switch (frame.method) {
      case 'initialize':
        this.#stateless = false;
        return this.#greet(frame, this.#welcome(versionOf(frame)));
      case 'server/discover':
        return this.#greet(frame, { supportedVersions: [STATELESS_SINCE], ...this.#welcome(undefined) });
      case 'ping':
        return this.#result(frame, {});
      case 'tools/list':
      case 'prompts/list':
      case 'resources/list':
      case 'resources/templates/list':
        return this.#catalog.list(frame, frame.method);
      case 'tools/call':
        return this.#call(frame);
      case 'prompts/get':
        return this.#router.byName(frame, ['name'], 'prompt');
      case 'resources/read':
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return this.#router.byUri(frame, ['uri']);
      case 'completion/complete':
        return stringAt(frame.bytes, param(frame, 'ref', 'type')) === 'ref/prompt'
          ? this.#router.byName(frame, ['ref', 'name'], 'prompt')
          : this.#router.byUri(frame, ['ref', 'uri']);
      case 'logging/setLevel':
        return this.#setLevel(frame);
      case 'subscriptions/listen':
        return this.#listen(frame);
      default:
        throw new Refusal(
          METHOD_NOT_FOUND,
          `${frame.method} names no server, so the gateway cannot pass the request on; wrap the server in a separate gateway`,
        );
    }
  }

  /** Begins the handshakes at the first request except `ping`. `server/discover` waits at most `probeMs` for the handshakes. */
  async #meet(frame: Request): Promise<void> {
    if (frame.method === 'ping') return; // A ping does not name the client.
    this.#introduced ??= this.#introduce(frame);
    await (frame.method === 'server/discover' ? within(this.#patience.probeMs, this.#introduced) : this.#introduced);
  }

  async #introduce(frame: Request): Promise<void> {
    const client = clientInfoOf(frame);
    const { key, session, profile = profileOf, rider } = this.#options;
    this.#connection = {
      key,
      ...(client && { client }),
      ...(session !== undefined && { session }),
      profile: profile(client),
      nameOf: (tool) => this.#catalog.nameOf(tool),
      shown: (server, tool) => `${server}${this.#separator}${tool}`,
    };
    this.#options.settling.cancelsAnswered = this.#connection.profile.cancelsAnswered === true;
    rider.opened(this.#connection);
    this.#introduction = introductionIn(frame);
    this.#stateless = this.#introduction.stateless;
    this.#health.begin(this.#connection.key);
    await this.#starting.begin(this.#introduction, this.#connection.profile);
    this.#met = true;
  }

  /** Announces a server that became ready after the client got its handshake answer. */
  #becameReady(peer: Peer): void {
    if (this.#closed) return;
    this.#subscriptions.join(peer);
    if (this.#level !== undefined) peer.logAt(this.#level);
    for (const list of ['tools', 'prompts', 'resources']) if (peer.can(list)) this.#changed(peer, list);
    const { name: server, instructions } = peer;
    if (!instructions?.trim()) return;
    // The client requests instructions only once, and already has the answer.
    this.#options.report(`MCP server "${server}" started late, so the agent gets the server's instructions as a notification`);
    this.#options.rider.upstream({ server, state: 'introduced', detail: instructions }, this.#connection!.key);
  }

  #changed(peer: Peer, list: string): void {
    if (this.#closed) return;
    this.#noteFrom(peer, frameOf(Buffer.from(`{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}\n`)) as Note);
  }

  async #greet(frame: Request, welcome: Welcome): Promise<void> {
    const ours = await this.#options.rider.instructions(this.#connection!);
    const parts = [welcome.instructions, ours].filter((part) => part !== undefined);
    this.#result(frame, { ...welcome, ...(parts.length > 0 && { instructions: parts.join('\n\n') }) });
  }

  #welcome(version: string | undefined): Welcome {
    return welcome(this.#peers, { version, pending: this.#starting.pending });
  }

  async #call(frame: Request): Promise<void> {
    const known = this.#options.rider.toolsKnown();
    if (known !== undefined) await known;
    const own = this.#catalog.meant(frame);
    return own === undefined ? this.#router.byName(frame, ['name'], 'tool') : this.#catalog.call(frame, own);
  }

  #setLevel(frame: Request): void {
    this.#level = stringAt(frame.bytes, param(frame, 'level'));
    if (this.#level !== undefined) for (const peer of this.#peers) peer.logAt(this.#level);
    return this.#result(frame, {});
  }

  #listen(frame: Request): void {
    const ready = this.#peers.filter((peer) => peer.ready);
    const bytes = this.#subscriptions.begin(frame, ready);
    if (bytes === undefined) throw new Refusal(INVALID_PARAMS, 'subscriptions/listen needs params.notifications');
    this.#send({ bytes });
  }

  #note(frame: Note): void {
    const cancelled = cancelledBy(frame);
    if (cancelled === undefined) {
      if (frame.method === 'tools/call') return this.#dropCall(frame);
      if (frame.method === 'notifications/initialized') return; // Each server already had its own handshake.
      for (const peer of this.#peers) if (peer.generation === 'legacy') peer.send(frame);
      return;
    }
    this.#catalog.cancel(cancelled);
    this.#subscriptions.end(cancelled);
    const peer = this.#router.forget(cancelled);
    if (peer?.ready) peer.send(frame);
  }

  /** Drops a call without an id, because neither its server nor the gate can answer such a call. */
  #dropCall(frame: Note): void {
    if (!this.#saidWithoutId) this.#options.report(`${withoutId(toolOf(frame) ?? '')}; the gateway drops such calls`);
    this.#saidWithoutId = true;
  }

  #fromPeer(peer: Peer, out: Outgoing, frame: Frame): boolean {
    switch (frame.kind) {
      case 'success':
      case 'failure': {
        if (!isAnswer(frame)) return this.#send(out);
        const request = this.#router.answered(frame.id, peer);
        if (request === undefined) {
          // The client has cancelled the request and may now use its id for another request, so the answer is dropped.
          out.delivery?.release('cancelled');
          return true;
        }
        return this.#send(frame.kind === 'success' ? crossed(request, peer.name, out, frame) : out);
      }
      case 'request':
        if (!this.#stateless) return this.#asking.ask(peer, frame);
        this.#asking.refuse(peer, frame);
        return true;
      case 'note':
        return this.#noteFrom(peer, frame);
      case 'batch':
        for (const { start, end } of frame.elements) {
          const bytes = asLine(frame.bytes.subarray(start, end));
          this.#fromPeer(peer, { bytes }, frameOf(bytes));
        }
        return true;
      case 'opaque':
        this.#options.report(`MCP server "${peer.name}" sent a line that is not a JSON-RPC message (${frame.reason})`);
        return true;
      default:
        return frame satisfies never;
    }
  }

  #noteFrom(peer: Peer, frame: Note): boolean {
    const changes = this.#stateless ? this.#subscriptions.of(peer, frame) : undefined;
    let room = true;
    for (const bytes of changes ?? [frame.bytes]) room = this.#send({ bytes }) && room;
    return room;
  }

  #result(request: Request, result: object): void {
    this.#send({ bytes: ownResult(request, result) });
  }

  #send(out: Outgoing): boolean {
    return this.#options.channel.send(out);
  }
}
