import type { OpenCall, Outgoing } from './riding/carry.ts';
import {
  asLine,
  errorFrame,
  frameOf,
  param,
  resultFrame,
  soundFrameOf,
  type Frame,
  type Note,
  type Request,
  cancelledBy,
} from '../mcp/frames/frame.ts';
import type { GuardedRider } from './riding/guarded.ts';
import { edited, isJson, stringAt, textOf, type Edit } from '../mcp/frames/json.ts';
import type { StopOptions, TooLong } from '../mcp/link.ts';
import type { MakeLink } from '../mcp/links.ts';
import { answerOwn } from './riding/own-tools.ts';
import { Peer } from './peer.ts';
import { withoutId } from './relay.ts';
import { profileOf, type Profile } from './riding/profiles.ts';
import {
  clientInfoOf,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  isStateless,
  LEGACY_VERSION,
  LEGACY_VERSIONS,
  METHOD_NOT_FOUND,
  STATELESS_SINCE,
  toolOf,
  versionOf,
  type ClientInfo,
} from '../mcp/frames/protocol.ts';
import type { Connection, OwnTool, UpstreamEvent } from './riding/rider.ts';
import { refuseTooLong, type Channel, type Endpoint } from './session.ts';
import { failing } from './failing.ts';
import { crossed, envelopeEdits } from './several/crossing.ts';
import { envelopeLike, introductionIn, type Introduction } from './several/introduction.ts';
import { Lists, LISTS, type ListMethod } from './several/lists.ts';
import { Refusal } from './several/refusal.ts';
import { PATIENCE, Starting, within, type Patience } from './several/starting.ts';
import { Subscriptions } from './several/subscriptions.ts';
import type { Settling } from './riding/settling.ts';
import { OwnNames } from './riding/tools.ts';
import { isAnswer } from './unasked.ts';
import type { Upstream } from '../mcp/upstream.ts';

export type MultiplexOptions = {
  readonly upstreams: readonly Upstream[];
  readonly link: MakeLink;
  readonly rider: GuardedRider;
  readonly settling: Settling;
  readonly channel: Channel;
  readonly report: (line: string) => void;
  readonly key: string;
  readonly session?: string;
  readonly profile?: (client: ClientInfo | undefined) => Profile;
  /** Between a server's name and the name of its tool or prompt. */
  readonly separator?: string;
  /** How long a client waits for one of several servers. */
  readonly patience?: Partial<Patience>;
};

export const SEPARATOR = '__';

type Welcome = { readonly instructions?: string } & Readonly<Record<string, unknown>>;

/**
 * Several servers as one, for one client. Tools and prompts are named `<server>__<name>`, resources keep their URIs. Each
 * end has a handshake of its own; a client of one generation may stand before servers of the other, and then tools,
 * resources, prompts and completion cross. What cannot be given to one of several servers, or does not cross, is a
 * JSON-RPC error that says so. The client is answered after a short grace with the servers that are ready; list_changed tells
 * it of those that come later.
 */
export class Multiplex implements Endpoint {
  readonly #options: MultiplexOptions;
  readonly #separator: string;
  readonly #peers: readonly Peer[];
  /** The client's open requests that went to a server, by their id. */
  readonly #routed = new Map<string, { readonly peer: Peer; readonly request: Request }>();
  readonly #own = new Map<string, OpenCall>();
  /** Requests of servers that the client has not answered, by the id that it knows them by. */
  readonly #asked = new Map<string, { readonly peer: Peer; readonly id: string }>();
  readonly #patience: Patience;
  readonly #lists: Lists;
  readonly #subscriptions: Subscriptions;
  readonly #starting: Starting;
  /** Servers that the agent was told do not work. */
  readonly #bad = new Set<string>();
  /** What went wrong before the client said who it is. */
  readonly #untold: UpstreamEvent[] = [];
  #connection: Connection | undefined;
  #introduction: Introduction | undefined;
  #introduced: Promise<void> | undefined;
  #met = false;
  /** The generation that the client speaks. One that probed with server/discover may go on in the older one. */
  #stateless = false;
  #names: OwnNames | undefined;
  #count = 0;
  /** What the client asked servers to log, for those that come later. */
  #level: string | undefined;
  #closed = false;
  #saidWithoutId = false;

  constructor(options: MultiplexOptions) {
    this.#options = options;
    this.#separator = options.separator ?? SEPARATOR;
    this.#peers = options.upstreams.map((upstream): Peer => {
      const peer: Peer = new Peer({
        upstream,
        link: options.link,
        rider: options.rider,
        report: options.report,
        tell: (event) => this.#tell(event),
        connection: () => this.#connection!,
        toClient: (out, frame) => this.#fromPeer(peer, out, frame),
        pause: options.channel.pause,
        resume: options.channel.resume,
      });
      return peer;
    });
    const patience = { ...PATIENCE, ...options.patience };
    this.#patience = patience;
    this.#starting = new Starting({
      peers: this.#peers,
      patience,
      tell: (event) => this.#tell(event),
      came: (peer) => this.#came(peer),
    });
    this.#lists = new Lists({
      peers: this.#peers,
      separator: this.#separator,
      listMs: patience.listMs,
      report: options.report,
      envelope: (like) => envelopeLike(like, this.#introduction!.meta),
      changed: (peer, capability) => this.#changed(peer, capability),
    });
    this.#subscriptions = new Subscriptions({
      envelope: () => this.#introduction!.meta,
      ownerOf: (uri) => this.#lists.listed(uri),
    });
  }

  get busy(): boolean {
    return this.#routed.size + this.#own.size > 0;
  }

  start(): void {
    for (const peer of this.#peers) peer.run();
  }

  fromClient(given: Frame): void {
    const frame = isJson(given.bytes) ? given : soundFrameOf(given.bytes);
    this.#options.settling.heard(frame);
    switch (frame.kind) {
      case 'request':
        void this.#request(frame);
        return;
      case 'note':
        return this.#note(frame);
      case 'success':
      case 'failure':
        return this.#answered(frame);
      case 'batch':
        for (const at of frame.elements) this.fromClient(frameOf(asLine(frame.bytes.subarray(at.start, at.end))));
        return;
      case 'opaque':
        return this.#options.report(`the client sent a line that is no JSON-RPC message (${frame.reason})`);
      default:
        return frame satisfies never;
    }
  }

  clientFrameTooLong(gone: TooLong): void {
    refuseTooLong(gone, this.#options);
  }

  abandon(requestId: string): void {
    this.#routed.get(requestId)?.peer.abandon(requestId);
    const own = this.#own.get(requestId);
    if (own) own.cancelled = true;
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
    this.#routed.delete(frame.id);
    try {
      // Without a turn of the event loop: a cancel may stand right behind it.
      if (!this.#met) await this.#meet(frame);
      await this.#route(frame);
    } catch (error) {
      const code = error instanceof Refusal ? error.code : INTERNAL_ERROR;
      this.#send({ bytes: errorFrame(frame.id, code, error instanceof Error ? error.message : String(error)) });
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
        return this.#list(frame, frame.method);
      case 'tools/call':
        return this.#call(frame);
      case 'prompts/get':
        return this.#forwardNamed(frame, ['name'], 'prompt');
      case 'resources/read':
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return this.#forwardByUri(frame, ['uri']);
      case 'completion/complete':
        return stringAt(frame.bytes, param(frame, 'ref', 'type')) === 'ref/prompt'
          ? this.#forwardNamed(frame, ['ref', 'name'], 'prompt')
          : this.#forwardByUri(frame, ['ref', 'uri']);
      case 'logging/setLevel':
        return this.#setLevel(frame);
      case 'subscriptions/listen':
        return this.#listen(frame);
      default:
        throw new Refusal(
          METHOD_NOT_FOUND,
          `${frame.method} cannot be given to one of several servers; wrap the server that it is for by itself`,
        );
    }
  }

  /** The first thing that says who the client is begins the handshake with every server. */
  async #meet(frame: Request): Promise<void> {
    this.#introduced ??= this.#introduce(frame);
    if (frame.method === 'server/discover') await within(this.#patience.probeMs, this.#introduced);
    else if (frame.method !== 'ping') await this.#introduced;
  }

  async #introduce(frame: Request): Promise<void> {
    const client = clientInfoOf(frame);
    const { key, session, profile = profileOf, rider } = this.#options;
    this.#connection = {
      key,
      ...(client && { client }),
      ...(session !== undefined && { session }),
      profile: profile(client),
      nameOf: (tool) => this.#names?.given(tool) ?? tool,
      shown: (server, tool) => `${server}${this.#separator}${tool}`,
    };
    this.#options.settling.cancelsAnswered = this.#connection.profile.cancelsAnswered === true;
    rider.opened(this.#connection);
    this.#introduction = introductionIn(frame);
    this.#stateless = this.#introduction.stateless;
    for (const event of this.#untold.splice(0)) this.#tell(event);
    await this.#starting.begin(this.#introduction, this.#connection.profile);
    this.#met = true;
  }

  /** A server became ready after the client had its answer. */
  #came(peer: Peer): void {
    if (this.#closed) return;
    this.#subscriptions.join(peer);
    this.#setLevelAt(peer);
    for (const list of ['tools', 'prompts', 'resources']) if (peer.can(list)) this.#changed(peer, list);
    const { name: server, instructions } = peer;
    if (!instructions?.trim()) return;
    // The client asks for instructions once, and has been answered.
    this.#options.report(`MCP server "${server}" started late: the agent gets its instructions as a notification`);
    this.#options.rider.upstream({ server, state: 'introduced', detail: instructions }, this.#connection!.key);
  }

  #changed(peer: Peer, list: string): void {
    if (this.#closed) return;
    this.#noteFrom(peer, frameOf(Buffer.from(`{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}\n`)) as Note);
  }

  /** To the agent: once when a server stops working, and once when it works again. */
  #tell(event: UpstreamEvent): void {
    if (this.#connection === undefined) return void this.#untold.push(event);
    const bad = event.state === 'failed' || event.state === 'disconnected';
    if (bad === this.#bad.has(event.server)) return;
    if (bad) this.#bad.add(event.server);
    else this.#bad.delete(event.server);
    this.#options.rider.upstream(event, this.#connection.key);
  }

  async #greet(frame: Request, welcome: Welcome): Promise<void> {
    const ours = await this.#options.rider.instructions(this.#connection!);
    const parts = [welcome.instructions, ours].filter((part) => part !== undefined);
    this.#result(frame, { ...welcome, ...(parts.length > 0 && { instructions: parts.join('\n\n') }) });
  }

  #welcome(version: string | undefined): Welcome {
    const ready = this.#peers.filter((peer) => peer.ready);
    // What a server can that has not come yet is not known, and cannot be said later.
    const has = (capability: string): boolean => this.#starting.pending || ready.some((peer) => peer.can(capability));
    const parts = ready.flatMap(({ name, instructions }) => (instructions === undefined ? [] : [`${name}: ${instructions}`]));
    return {
      ...(version !== undefined && { protocolVersion: LEGACY_VERSIONS.includes(version) ? version : LEGACY_VERSION }),
      capabilities: {
        tools: { listChanged: true },
        ...(has('prompts') && { prompts: { listChanged: true } }),
        ...(has('resources') && { resources: { listChanged: true, subscribe: true } }),
        ...(has('completions') && { completions: {} }),
        ...(has('logging') && { logging: {} }),
      },
      serverInfo: { name: 'earpiece', version: '1', title: this.#title },
      ...(parts.length > 0 && { instructions: parts.join('\n\n') }),
    };
  }

  get #title(): string {
    return this.#peers.length === 0 ? 'Earpiece' : `Earpiece before ${this.#peers.map(({ name }) => name).join(', ')}`;
  }

  async #list(frame: Request, method: ListMethod): Promise<void> {
    if (param(frame, 'cursor')) throw new Refusal(INVALID_PARAMS, `${method} comes in one page: there is no cursor`);
    const entries = await this.#lists.all(frame, method);
    if (method === 'tools/list') await this.#options.rider.toolsKnown();
    if (method === 'tools/list')
      for (const tool of this.#ownTools()) if (!tool.hidden) entries.push(JSON.stringify(this.#ownNames().listed(tool)));
    const more = isStateless(frame) ? ',"resultType":"complete","ttlMs":0,"cacheScope":"private"' : '';
    const { list } = LISTS[method];
    this.#send({ bytes: Buffer.from(`{"jsonrpc":"2.0","id":${frame.id},"result":{"${list}":[${entries.join(',')}]${more}}}\n`) });
  }

  async #call(frame: Request): Promise<void> {
    const known = this.#options.rider.toolsKnown();
    if (known !== undefined) await known;
    const name = toolOf(frame);
    const own = name === undefined ? undefined : this.#ownNames().meant(name);
    if (own === undefined) return this.#forwardNamed(frame, ['name'], 'tool');
    const call: OpenCall = {
      server: 'earpiece',
      tool: own,
      requestId: frame.id,
      connection: this.#connection!,
      cancelled: false,
    };
    this.#own.set(frame.id, call);
    const out = await answerOwn(this.#options.rider, frame, call, own);
    this.#own.delete(frame.id);
    if (out) this.#send(out);
  }

  /** To the server that the name begins with, without that beginning. */
  #forwardNamed(frame: Request, path: readonly string[], what: string): Promise<void> {
    const at = param(frame, ...path);
    const name = stringAt(frame.bytes, at);
    const owner = name === undefined ? undefined : this.#ownerOf(name);
    if (at === undefined || owner === undefined) {
      const servers = this.#peers.map((peer) => peer.name).join(', ');
      if (servers === '') throw new Refusal(INVALID_PARAMS, `there is no ${what} "${name ?? ''}"; tools/list has what there is`);
      throw new Refusal(
        INVALID_PARAMS,
        `there is no ${what} "${name ?? ''}": names are <server>${this.#separator}<name>, with a server of ${servers}`,
      );
    }
    return this.#forward(frame, owner.peer, [{ at, put: JSON.stringify(owner.name) }]);
  }

  async #forwardByUri(frame: Request, path: readonly string[]): Promise<void> {
    const uri = stringAt(frame.bytes, param(frame, ...path)) ?? '';
    const peer = await this.#lists.ownerOf(uri, frame);
    if (peer === undefined) throw new Refusal(INVALID_PARAMS, `no server has the resource "${uri}"`);
    return this.#forward(frame, peer, []);
  }

  async #forward(frame: Request, peer: Peer, edits: readonly Edit[]): Promise<void> {
    const routed = { peer, request: frame };
    this.#routed.set(frame.id, routed);
    if (!peer.ready) {
      await this.#starting.settled(peer);
      if (this.#routed.get(frame.id) !== routed) return; // The client has cancelled it.
      if (!peer.ready) {
        this.#routed.delete(frame.id);
        this.#send(failing(frame, peer.trouble));
        return;
      }
    }
    const envelope = peer.generation === 'stateless' && !isStateless(frame) ? envelopeEdits(frame, this.#introduction!.meta) : [];
    peer.send(edited(frame.bytes, [...edits, ...envelope]));
  }

  #ownerOf(name: string): { peer: Peer; name: string } | undefined {
    // The longest name wins: with servers "a" and "a__b", "a__b__c" is the tool "c" of "a__b".
    const owners = this.#peers
      .filter((peer) => name.startsWith(`${peer.name}${this.#separator}`))
      .toSorted((a, b) => b.name.length - a.name.length);
    const peer = owners[0];
    return peer && { peer, name: name.slice(peer.name.length + this.#separator.length) };
  }

  #setLevel(frame: Request): void {
    this.#level = stringAt(frame.bytes, param(frame, 'level'));
    for (const peer of this.#peers) this.#setLevelAt(peer);
    return this.#result(frame, {});
  }

  #setLevelAt(peer: Peer): void {
    if (this.#level !== undefined && peer.generation === 'legacy' && peer.can('logging'))
      void peer.ask('logging/setLevel', { level: this.#level });
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
      if (frame.method === 'notifications/initialized') return; // Each server has had its own.
      for (const peer of this.#peers) if (peer.generation === 'legacy') peer.send(frame.bytes);
      return;
    }
    const own = this.#own.get(cancelled);
    if (own) own.cancelled = true;
    this.#subscriptions.end(cancelled);
    const routed = this.#routed.get(cancelled);
    this.#routed.delete(cancelled);
    if (routed?.peer.ready) routed.peer.send(frame.bytes);
  }

  /** Nothing can answer a call without an id: neither its server nor the gate. */
  #dropCall(frame: Note): void {
    if (!this.#saidWithoutId) this.#options.report(`${withoutId(toolOf(frame) ?? '')}; the gateway drops such calls`);
    this.#saidWithoutId = true;
  }

  /** The client's answer to a server's request. */
  #answered(frame: Frame & { kind: 'success' | 'failure' }): void {
    const asked = this.#asked.get(frame.id);
    if (asked === undefined) return;
    this.#asked.delete(frame.id);
    asked.peer.send(edited(frame.bytes, [{ at: frame.idAt, put: asked.id }]));
  }

  #fromPeer(peer: Peer, out: Outgoing, frame: Frame): boolean {
    switch (frame.kind) {
      case 'success':
      case 'failure': {
        if (!isAnswer(frame)) return this.#send(out);
        const routed = this.#routed.get(frame.id);
        if (routed?.peer !== peer) {
          // The client has cancelled it, and may mean something else by this id now.
          out.delivery?.release('cancelled');
          return true;
        }
        this.#routed.delete(frame.id);
        return this.#send(frame.kind === 'success' ? crossed(routed.request, peer.name, out, frame) : out);
      }
      case 'request':
        return this.#ask(peer, frame);
      case 'note':
        return this.#noteFrom(peer, frame);
      case 'batch':
        for (const { start, end } of frame.elements) {
          const bytes = asLine(frame.bytes.subarray(start, end));
          this.#fromPeer(peer, { bytes }, frameOf(bytes));
        }
        return true;
      case 'opaque':
        this.#options.report(`MCP server "${peer.name}" sent a line that is no JSON-RPC message (${frame.reason})`);
        return true;
      default:
        return frame satisfies never;
    }
  }

  /** A server's request, under an id that no other server's has. */
  #ask(peer: Peer, frame: Request): boolean {
    if (this.#stateless) {
      const why = `the client speaks a protocol in which it cannot be asked (${frame.method})`;
      peer.send(errorFrame(frame.id, METHOD_NOT_FOUND, why));
      return true;
    }
    this.#count += 1;
    const id = `"${peer.name.replaceAll(/[^\w-]/g, '_')}-${this.#count}"`;
    this.#asked.set(id, { peer, id: textOf(frame.bytes, frame.idAt) });
    return this.#send({ bytes: edited(frame.bytes, [{ at: frame.idAt, put: id }]) });
  }

  #noteFrom(peer: Peer, frame: Note): boolean {
    const changes = this.#stateless ? this.#subscriptions.of(peer, frame) : undefined;
    let room = true;
    for (const bytes of changes ?? [frame.bytes]) room = this.#send({ bytes }) && room;
    return room;
  }

  #ownTools(): readonly OwnTool[] {
    return this.#options.rider.tools(this.#connection!);
  }

  #ownNames(): OwnNames {
    return (this.#names ??= new OwnNames(this.#ownTools(), { has: (name) => this.#ownerOf(name) !== undefined }));
  }

  #result(request: Request, result: object): void {
    const stateless = isStateless(request);
    const more = stateless
      ? { resultType: 'complete', ...(request.method === 'server/discover' && { ttlMs: 0, cacheScope: 'private' }) }
      : {};
    this.#send({ bytes: resultFrame(request.id, { ...result, ...more }) });
  }

  #send(out: Outgoing): boolean {
    return this.#options.channel.send(out);
  }
}
