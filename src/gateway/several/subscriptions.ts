/** Subscribes a stateless client to changes, at servers of both generations. */
import { param, type Note, type Request } from '../../mcp/frames/frame.ts';
import { edited, stringAt, textOf } from '../../mcp/frames/json.ts';
import { META_SUBSCRIPTION } from '../../mcp/frames/protocol.ts';
import type { Peer } from '../peer.ts';

/** The field of a subscription's filter, by the method of the change. */
const CHANGES: Readonly<Record<string, string>> = {
  'notifications/tools/list_changed': 'toolsListChanged',
  'notifications/prompts/list_changed': 'promptsListChanged',
  'notifications/resources/list_changed': 'resourcesListChanged',
  'notifications/resources/updated': 'resourceSubscriptions',
};

type Subscription = { readonly id: string; readonly filter: Readonly<Record<string, unknown>>; readonly at: Map<Peer, Part> };

/** The part of a subscription at one server. `uris`: the resources that were subscribed at a server of the older generation. */
type Part = { readonly id: string; readonly uris: readonly string[] };

export type SubscriptionsOptions = {
  /** The envelope for the gateway's requests to stateless servers. */
  readonly envelope: () => object;
  readonly ownerOf: (uri: string) => Peer | undefined;
};

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #open = new Map<string, Subscription>();

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /** Begins a subscription. Returns the acknowledging frame, or undefined if the request has no filter. */
  begin(frame: Request, peers: readonly Peer[]): Buffer | undefined {
    const at = param(frame, 'notifications');
    const filter = at && (JSON.parse(textOf(frame.bytes, at)) as Record<string, unknown>);
    if (filter === undefined) return undefined;
    const subscription: Subscription = { id: frame.id, filter, at: new Map() };
    this.#open.set(frame.id, subscription);
    for (const peer of peers) this.#listen(peer, subscription);
    const params = { _meta: { [META_SUBSCRIPTION]: JSON.parse(frame.id) as unknown }, notifications: filter };
    return Buffer.from(
      `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":${JSON.stringify(params)}}\n`,
    );
  }

  /** Sends the subscriptions to a server that became ready later. */
  join(peer: Peer): void {
    for (const subscription of this.#open.values()) this.#listen(peer, subscription);
  }

  end(id: string): void {
    const subscription = this.#open.get(id);
    this.#open.delete(id);
    for (const [peer, theirs] of subscription?.at ?? []) {
      if (peer.generation === 'stateless')
        peer.sendBytes(Buffer.from(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${theirs.id}}}\n`));
      const others = [...this.#open.values()].flatMap(({ at }) => at.get(peer)?.uris ?? []);
      for (const uri of theirs.uris) if (!others.includes(uri)) void peer.ask('resources/unsubscribe', { uri });
    }
  }

  /**
   * Returns the frames for a server's change, one for each subscription that matches, and none for an acknowledgement. Undefined
   * for any other note.
   */
  of(peer: Peer, note: Note): Buffer[] | undefined {
    if (note.method === 'notifications/subscriptions/acknowledged') return [];
    const part = Object.hasOwn(CHANGES, note.method) ? CHANGES[note.method] : undefined;
    if (part === undefined) return undefined;
    const uri = stringAt(note.bytes, param(note, 'uri'));
    const theirs = param(note, '_meta', META_SUBSCRIPTION);
    return [...this.#open.values()].flatMap(({ id, filter, at }) => {
      const wanted = filter[part];
      if (wanted !== true && !(Array.isArray(wanted) && wanted.includes(uri))) return [];
      if (theirs && textOf(note.bytes, theirs) !== at.get(peer)?.id) return [];
      return [stamped(note, id)];
    });
  }

  #listen(peer: Peer, { filter, at }: Subscription): void {
    const id = peer.newId();
    if (peer.generation === 'stateless') {
      at.set(peer, { id, uris: [] });
      const params = JSON.stringify({ _meta: this.#options.envelope(), notifications: filter });
      peer.sendBytes(Buffer.from(`{"jsonrpc":"2.0","id":${id},"method":"subscriptions/listen","params":${params}}\n`));
      return;
    }
    const wanted = Array.isArray(filter.resourceSubscriptions) ? (filter.resourceSubscriptions as unknown[]) : [];
    const uris = wanted.filter(
      (uri): uri is string => typeof uri === 'string' && (this.#options.ownerOf(uri) ?? peer) === peer && peer.can('resources'),
    );
    at.set(peer, { id, uris });
    for (const uri of uris) void peer.ask('resources/subscribe', { uri });
  }
}

/** Returns the change, marked with the id of a subscription. */
function stamped(frame: Note, id: string): Buffer {
  const there = param(frame, '_meta', META_SUBSCRIPTION);
  if (there) return edited(frame.bytes, [{ at: there, put: id }]);
  const params = frame.params && (JSON.parse(textOf(frame.bytes, frame.params)) as Record<string, unknown>);
  const meta = { ...(params?._meta as object | undefined), [META_SUBSCRIPTION]: JSON.parse(id) as unknown };
  return Buffer.from(`{"jsonrpc":"2.0","method":"${frame.method}","params":${JSON.stringify({ ...params, _meta: meta })}}\n`);
}
