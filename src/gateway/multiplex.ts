import { setTimeout as sleep } from 'node:timers/promises';

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
  type Success,
} from './frames/frame.ts';
import type { GuardedRider } from './riding/guarded.ts';
import {
  addMember,
  arrayAt,
  edited,
  isJson,
  member,
  objectAt,
  stringAt,
  textOf,
  valueAt,
  type Edit,
  type ObjectAt,
} from './frames/json.ts';
import type { StopOptions, TooLong } from './link.ts';
import { answerOwn } from './riding/own-tools.ts';
import { legacyIntroduction, Peer, type Introduction } from './peer.ts';
import { profileOf, type ClientInfo, type Profile } from './riding/profiles.ts';
import {
  clientInfoOf,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  isStateless,
  LEGACY_VERSION,
  LEGACY_VERSIONS,
  META_CAPABILITIES,
  META_CLIENT,
  META_SUBSCRIPTION,
  META_VERSION,
  METHOD_NOT_FOUND,
  STATELESS_SINCE,
  toolOf,
  versionOf,
} from './frames/protocol.ts';
import { textBlock } from './riding/results.ts';
import type { Connection, OwnTool } from './riding/rider.ts';
import { refuseTooLong, type Channel, type Endpoint } from './session.ts';
import { cancelledBy, type Settling } from './riding/settling.ts';
import { OwnNames } from './riding/tools.ts';
import type { Upstream } from './upstream.ts';

export type MultiplexOptions = {
  readonly upstreams: readonly Upstream[];
  readonly rider: GuardedRider;
  readonly settling: Settling;
  readonly channel: Channel;
  readonly report: (line: string) => void;
  readonly key: string;
  readonly session?: string;
  readonly profile?: (client: ClientInfo | undefined) => Profile;
  /** Between a server's name and the name of its tool or prompt. */
  readonly separator?: string;
};

/** A server that is not ready by then is left out at first; its tools come later, with list_changed. */
const START_MS = 15_000;

/** How long after a failed handshake a server that may come later is tried again. */
const RETRY_MS = 5_000;

export const SEPARATOR = '__';

/** What lists hold and by which member their entries are known. */
const LISTS = {
  'tools/list': { capability: 'tools', list: 'tools', known: 'name' },
  'prompts/list': { capability: 'prompts', list: 'prompts', known: 'name' },
  'resources/list': { capability: 'resources', list: 'resources', known: 'uri' },
  'resources/templates/list': { capability: 'resources', list: 'resourceTemplates', known: 'uriTemplate' },
} as const;

const CACHEABLE = [...Object.keys(LISTS), 'resources/read'];

/** Which part of a subscription lets a change through. */
const CHANGES: Readonly<Record<string, string>> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
  'notifications/resources/updated': 'resourceSubscriptions',
};

type Subscription = { readonly id: string; readonly filter: Readonly<Record<string, unknown>>; readonly at: Map<Peer, string> };

/**
 * Several servers as one, for one client. Tools and prompts are named `<server>__<name>`, resources keep their URIs. Each
 * end has a handshake of its own; a client of one generation may stand before servers of the other, and then tools,
 * resources, prompts and completion cross. What cannot be given to one of several servers, or does not cross, is a
 * JSON-RPC error that says so.
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
  readonly #owners = new Map<string, Peer>();
  readonly #templates = new Map<string, Peer>();
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #retries = new Set<NodeJS.Timeout>();
  #connection: Connection | undefined;
  #introduction: Introduction | undefined;
  #introduced: Promise<void> | undefined;
  #names: OwnNames | undefined;
  #count = 0;
  /** The client has its answer: a server that becomes ready from now on has to be announced. */
  #late = false;
  #closed = false;

  constructor(options: MultiplexOptions) {
    this.#options = options;
    this.#separator = options.separator ?? SEPARATOR;
    this.#peers = options.upstreams.map((upstream): Peer => {
      const peer: Peer = new Peer({
        upstream,
        rider: options.rider,
        report: options.report,
        connection: () => this.#connection!,
        toClient: (out, frame) => this.#fromPeer(peer, out, frame),
        pause: options.channel.pause,
        resume: options.channel.resume,
      });
      return peer;
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
    for (const timer of this.#retries) clearTimeout(timer);
    await Promise.all(this.#peers.map((peer) => peer.close(options)));
    if (this.#closed) return;
    this.#closed = true;
    this.#options.settling.end();
    if (this.#connection) this.#options.rider.closed(this.#connection);
  }

  async #request(frame: Request): Promise<void> {
    try {
      await this.#meet(frame);
      await this.#route(frame);
    } catch (error) {
      const code = error instanceof Refusal ? error.code : INTERNAL_ERROR;
      this.#send({ bytes: errorFrame(frame.id, code, error instanceof Error ? error.message : String(error)) });
    }
  }

  #route(frame: Request): void | Promise<void> {
    switch (frame.method) {
      case 'initialize':
        return this.#result(frame, this.#welcome(versionOf(frame)));
      case 'server/discover':
        return this.#result(frame, { supportedVersions: [STATELESS_SINCE], ...this.#welcome(undefined) });
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
    if (frame.method !== 'ping') await this.#introduced;
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
    };
    rider.opened(this.#connection);
    this.#introduction = introductionIn(frame, client);
    const starting = this.#peers.map((peer) => this.#startPeer(peer, this.#introduction!));
    const timeout = new AbortController();
    await Promise.race([Promise.all(starting), sleep(START_MS, undefined, { signal: timeout.signal }).catch(() => {})]);
    timeout.abort();
    this.#late = true;
  }

  async #startPeer(peer: Peer, who: Introduction): Promise<void> {
    if (!(await peer.start(who))) {
      if (peer.worthAnotherTry) this.#tryLater(peer, who);
      return;
    }
    if (!this.#late || this.#closed) return;
    for (const subscription of this.#subscriptions.values()) this.#subscribeAt(peer, subscription);
    for (const list of ['tools', 'prompts', 'resources']) {
      if (!peer.can(list)) continue;
      const note = frameOf(Buffer.from(`{"jsonrpc":"2.0","method":"notifications/${list}/list_changed"}\n`)) as Note;
      this.#noteFrom(peer, note);
    }
  }

  #tryLater(peer: Peer, who: Introduction): void {
    const timer = setTimeout(() => {
      this.#retries.delete(timer);
      void this.#startPeer(peer, who);
    }, RETRY_MS);
    this.#retries.add(timer);
  }

  #welcome(version: string | undefined): object {
    const ready = this.#peers.filter((peer) => peer.ready);
    const has = (capability: string): boolean => ready.some((peer) => peer.can(capability));
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
      serverInfo: { name: 'earpiece', version: '1', title: `Earpiece before ${this.#peers.map(({ name }) => name).join(', ')}` },
      ...(parts.length > 0 && { instructions: parts.join('\n\n') }),
    };
  }

  async #list(frame: Request, method: keyof typeof LISTS): Promise<void> {
    if (param(frame, 'cursor')) throw new Refusal(INVALID_PARAMS, `${method} comes in one page: there is no cursor`);
    const { capability, list } = LISTS[method];
    const peers = this.#peers.filter((peer) => peer.ready && peer.can(capability));
    const lists = await Promise.all(peers.map((peer) => this.#entriesOf(peer, frame, method)));
    const entries: string[] = [];
    const seen = new Map<string, string>();
    for (const [index, peer] of peers.entries()) {
      for (const { name, text } of lists[index]!) {
        const other = seen.get(name);
        if (other !== undefined) {
          this.#options.report(
            `${list}: "${name}" of "${peer.name}" is left out, "${other}" has one of that name; rename one of the servers`,
          );
          continue;
        }
        seen.set(name, peer.name);
        entries.push(text);
      }
    }
    if (method === 'tools/list') for (const tool of this.#ownTools()) entries.push(JSON.stringify(this.#ownNames().listed(tool)));
    const more = isStateless(frame) ? ',"resultType":"complete","ttlMs":0,"cacheScope":"private"' : '';
    this.#send({ bytes: Buffer.from(`{"jsonrpc":"2.0","id":${frame.id},"result":{"${list}":[${entries.join(',')}]${more}}}\n`) });
  }

  /** All pages of one server's list, each entry as JSON text under the name that the client knows it by. */
  async #entriesOf(peer: Peer, like: Request, method: keyof typeof LISTS): Promise<{ name: string; text: string }[]> {
    const { list, known } = LISTS[method];
    const entries: { name: string; text: string }[] = [];
    let cursor: string | undefined;
    do {
      const params = {
        ...(cursor !== undefined && { cursor }),
        ...(peer.generation === 'stateless' && { _meta: this.#metaFor(like) }),
      };
      const answer = await peer.ask(method, params);
      if (answer?.kind !== 'success') {
        const why = answer ? textOf(answer.bytes, answer.error) : 'it does not answer';
        this.#options.report(`${method} of "${peer.name}" is missing: ${why}`);
        return entries;
      }
      const { bytes, result } = answer;
      const at = valueAt(bytes, result.start, [list]);
      for (const range of (at && arrayAt(bytes, at.start)?.elements) ?? []) {
        const object = objectAt(bytes, range.start);
        const knownAt = object && member(bytes, object, known);
        const name = stringAt(bytes, knownAt);
        if (knownAt === undefined || name === undefined) continue;
        const text = bytes.subarray(range.start, range.end);
        if (known !== 'name') {
          const owners = known === 'uri' ? this.#owners : this.#templates;
          if (!owners.has(name)) owners.set(name, peer);
          entries.push({ name, text: text.toString() });
          continue;
        }
        const given = `${peer.name}${this.#separator}${name}`;
        const place = { start: knownAt.start - range.start, end: knownAt.end - range.start };
        entries.push({ name: given, text: edited(text, [{ at: place, put: JSON.stringify(given) }]).toString() });
      }
      cursor = stringAt(bytes, valueAt(bytes, result.start, ['nextCursor']));
    } while (cursor !== undefined);
    return entries;
  }

  async #call(frame: Request): Promise<void> {
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
  #forwardNamed(frame: Request, path: readonly string[], what: string): void {
    const at = param(frame, ...path);
    const name = stringAt(frame.bytes, at);
    const owner = name === undefined ? undefined : this.#ownerOf(name);
    if (at === undefined || owner === undefined) {
      const servers = this.#peers.map((peer) => peer.name).join(', ');
      throw new Refusal(
        INVALID_PARAMS,
        `there is no ${what} "${name ?? ''}": names are <server>${this.#separator}<name>, with a server of ${servers}`,
      );
    }
    this.#forward(frame, owner.peer, [{ at, put: JSON.stringify(owner.name) }]);
  }

  async #forwardByUri(frame: Request, path: readonly string[]): Promise<void> {
    const uri = stringAt(frame.bytes, param(frame, ...path)) ?? '';
    const peer = await this.#ownerOfUri(uri, frame);
    if (peer === undefined) throw new Refusal(INVALID_PARAMS, `no server has the resource "${uri}"`);
    this.#forward(frame, peer, []);
  }

  #forward(frame: Request, peer: Peer, edits: readonly Edit[]): void {
    if (!peer.ready) throw new Refusal(INTERNAL_ERROR, `the MCP server "${peer.name}" is not ready`);
    const envelope = peer.generation === 'stateless' && !isStateless(frame) ? this.#envelopeEdits(frame) : [];
    this.#routed.set(frame.id, { peer, request: frame });
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

  async #ownerOfUri(uri: string, like: Request): Promise<Peer | undefined> {
    const known = (): Peer | undefined =>
      this.#owners.get(uri) ?? this.#templates.get(uri) ?? [...this.#templates].find(([template]) => fits(template, uri))?.[1];
    const found = known();
    if (found) return found;
    const peers = this.#peers.filter((peer) => peer.ready && peer.can('resources'));
    if (peers.length <= 1) return peers[0];
    for (const method of ['resources/list', 'resources/templates/list'] as const)
      await Promise.all(peers.map((peer) => this.#entriesOf(peer, like, method)));
    return known();
  }

  async #setLevel(frame: Request): Promise<void> {
    const level = stringAt(frame.bytes, param(frame, 'level'));
    const peers = this.#peers.filter((peer) => peer.generation === 'legacy' && peer.can('logging'));
    await Promise.all(peers.map((peer) => peer.ask('logging/setLevel', { level })));
    return this.#result(frame, {});
  }

  #listen(frame: Request): void {
    const at = param(frame, 'notifications');
    const filter = at && (JSON.parse(textOf(frame.bytes, at)) as Record<string, unknown>);
    if (filter === undefined) throw new Refusal(INVALID_PARAMS, 'subscriptions/listen needs params.notifications');
    const subscription: Subscription = { id: frame.id, filter, at: new Map() };
    this.#subscriptions.set(frame.id, subscription);
    const params = { _meta: { [META_SUBSCRIPTION]: JSON.parse(frame.id) as unknown }, notifications: filter };
    this.#send({
      bytes: Buffer.from(
        `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":${JSON.stringify(params)}}\n`,
      ),
    });
    for (const peer of this.#peers) if (peer.ready) this.#subscribeAt(peer, subscription);
  }

  #subscribeAt(peer: Peer, { filter, at }: Subscription): void {
    const id = peer.newId();
    at.set(peer, id);
    if (peer.generation === 'stateless') {
      const params = JSON.stringify({ _meta: this.#introduction!.meta, notifications: filter });
      peer.send(Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"subscriptions/listen","params":${params}}\n`));
      return;
    }
    const uris = Array.isArray(filter.resourceSubscriptions) ? (filter.resourceSubscriptions as unknown[]) : [];
    for (const uri of uris)
      if (typeof uri === 'string' && (this.#owners.get(uri) ?? peer) === peer && peer.can('resources'))
        void peer.ask('resources/subscribe', { uri });
  }

  #note(frame: Note): void {
    const cancelled = cancelledBy(frame);
    if (cancelled === undefined) {
      if (frame.method === 'notifications/initialized') return; // Each server has had its own.
      for (const peer of this.#peers) if (peer.generation === 'legacy') peer.send(frame.bytes);
      return;
    }
    const own = this.#own.get(cancelled);
    if (own) own.cancelled = true;
    const subscription = this.#subscriptions.get(cancelled);
    if (subscription) {
      this.#subscriptions.delete(cancelled);
      for (const [peer, id] of subscription.at) {
        if (peer.generation === 'stateless')
          peer.send(Buffer.from(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}\n`));
      }
    }
    const routed = this.#routed.get(cancelled);
    this.#routed.delete(cancelled);
    routed?.peer.send(frame.bytes);
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
        const routed = this.#routed.get(frame.id);
        this.#routed.delete(frame.id);
        return this.#send(routed && frame.kind === 'success' ? this.#crossed(routed.request, peer, out, frame) : out);
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
    if (this.#introduction?.stateless) {
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
    if (frame.method === 'notifications/subscriptions/acknowledged') return true;
    const part = Object.hasOwn(CHANGES, frame.method) ? CHANGES[frame.method] : undefined;
    if (part === undefined || !this.#introduction?.stateless) return this.#send({ bytes: frame.bytes });
    let room = true;
    for (const { id, filter, at } of this.#subscriptions.values()) {
      const wanted = filter[part];
      const uri = stringAt(frame.bytes, param(frame, 'uri'));
      if (wanted !== true && !(Array.isArray(wanted) && wanted.includes(uri))) continue;
      const theirs = param(frame, '_meta', META_SUBSCRIPTION);
      if (theirs && textOf(frame.bytes, theirs) !== at.get(peer)) continue;
      room = this.#send({ bytes: stamped(frame, id) }) && room;
    }
    return room;
  }

  /** A result that goes to a client of the other generation. */
  #crossed(request: Request, peer: Peer, out: Outgoing, frame: Success): Outgoing {
    const object = objectAt(frame.bytes, frame.result.start);
    if (object === undefined) return out;
    const resultType = stringAt(frame.bytes, member(frame.bytes, object, 'resultType'));
    if (isStateless(request)) {
      if (resultType !== undefined) return out;
      return { ...out, bytes: edited(frame.bytes, statelessEdits(object, request.method)) };
    }
    if (resultType !== 'input_required') return out;
    const why = `"${peer.name}" wants input that this client's protocol has no way to give`;
    if (request.method !== 'tools/call') return { bytes: errorFrame(request.id, INTERNAL_ERROR, why) };
    return {
      bytes: Buffer.from(`{"jsonrpc":"2.0","id":${request.id},"result":{"content":[${textBlock(why)}],"isError":true}}\n`),
    };
  }

  #envelopeEdits(frame: Request): Edit[] {
    const meta = this.#introduction!.meta;
    const entries = Object.entries(meta).map(([key, value]) => [key, JSON.stringify(value)] as const);
    const params = frame.params && objectAt(frame.bytes, frame.params.start);
    if (params === undefined) {
      const whole = objectAt(frame.bytes, frame.bytes.indexOf('{'));
      return whole ? [addMember(whole, 'params', JSON.stringify({ _meta: meta }))] : [];
    }
    const at = member(frame.bytes, params, '_meta');
    const object = at && objectAt(frame.bytes, at.start);
    if (object === undefined) return [addMember(params, '_meta', JSON.stringify(meta))];
    return entries.map(([key, value]) => addMember(object, key, value));
  }

  #metaFor(like: Request): object {
    const at = isStateless(like) ? param(like, '_meta') : undefined;
    if (at === undefined) return this.#introduction!.meta;
    const meta = JSON.parse(textOf(like.bytes, at)) as Record<string, unknown>;
    return Object.fromEntries(Object.entries(meta).filter(([key]) => key !== 'progressToken'));
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

class Refusal extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

function introductionIn(frame: Request, client: ClientInfo | undefined): Introduction {
  const clientInfo = client ?? { name: 'earpiece', version: '1' };
  if (isStateless(frame)) {
    const at = param(frame, '_meta')!;
    const meta = JSON.parse(textOf(frame.bytes, at)) as Record<string, unknown>;
    const own = Object.fromEntries(
      Object.entries(meta).filter(([key]) => [META_VERSION, META_CLIENT, META_CAPABILITIES].includes(key)),
    );
    return { stateless: true, meta: own, initialize: legacyIntroduction(clientInfo) };
  }
  const meta = { [META_VERSION]: STATELESS_SINCE, [META_CLIENT]: clientInfo, [META_CAPABILITIES]: {} };
  const initialize =
    frame.method === 'initialize' && frame.params
      ? (JSON.parse(textOf(frame.bytes, frame.params)) as object)
      : legacyIntroduction(clientInfo);
  return { stateless: false, meta, initialize };
}

function statelessEdits(result: ObjectAt, method: string): Edit[] {
  const edits = [addMember(result, 'resultType', '"complete"')];
  if (!CACHEABLE.includes(method)) return edits;
  if (result.members.length > 0) return [...edits, addMember(result, 'ttlMs', '0'), addMember(result, 'cacheScope', '"private"')];
  return [{ at: edits[0]!.at, put: '"resultType":"complete","ttlMs":0,"cacheScope":"private"' }];
}

/** A change as the subscription with this id gets it. */
function stamped(frame: Note, id: string): Buffer {
  const there = param(frame, '_meta', META_SUBSCRIPTION);
  if (there) return edited(frame.bytes, [{ at: there, put: id }]);
  const params = frame.params && (JSON.parse(textOf(frame.bytes, frame.params)) as Record<string, unknown>);
  const meta = { ...(params?._meta as object | undefined), [META_SUBSCRIPTION]: JSON.parse(id) as unknown };
  return Buffer.from(`{"jsonrpc":"2.0","method":"${frame.method}","params":${JSON.stringify({ ...params, _meta: meta })}}\n`);
}

/** Whether a URI can have been made from a URI template: its fixed parts stand in the URI, in their order. */
function fits(template: string, uri: string): boolean {
  const [first = '', ...rest] = template.split(/\{[^}]*\}/);
  if (!uri.startsWith(first)) return false;
  const last = rest.pop();
  if (last === undefined) return uri === first;
  let at = first.length;
  for (const part of rest) {
    const found = uri.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return uri.length - last.length >= at && uri.endsWith(last);
}
