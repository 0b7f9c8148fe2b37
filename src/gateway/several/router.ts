/** Finds the server for a request, and remembers the servers whose answers a client awaits. */
import { editedRequest, param, type Request } from '../../mcp/frames/frame.ts';
import { stringAt, type Edit } from '../../mcp/frames/json.ts';
import { INVALID_PARAMS, isStateless } from '../../mcp/frames/protocol.ts';
import { failing } from '../failing.ts';
import type { Peer } from '../peer.ts';
import type { Outgoing } from '../riding/carry.ts';
import { envelopeEdits } from './crossing.ts';
import type { Lists } from './lists.ts';
import { Refusal } from './refusal.ts';
import type { Starting } from './starting.ts';

export type RouterOptions = {
  readonly peers: readonly Peer[];
  readonly separator: string;
  readonly lists: Lists;
  readonly starting: Starting;
  /** Returns the envelope for stateless servers if the client sends none. */
  readonly envelope: () => object;
  readonly toClient: (out: Outgoing) => void;
};

export class Router {
  readonly #options: RouterOptions;
  /** The client's open requests that went to a server, by their id. */
  readonly #routed = new Map<string, { readonly peer: Peer; readonly request: Request }>();

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  /** The number of requests that wait for a server's answer. */
  get waiting(): number {
    return this.#routed.size;
  }

  /** Whether a request waits for the rider or for the restart of its server. */
  get holding(): boolean {
    return [...this.#routed.values()].some(({ peer }) => peer.holding);
  }

  /** Returns the server that got the client's request with this id. */
  peerOf(id: string): Peer | undefined {
    return this.#routed.get(id)?.peer;
  }

  /**
   * Removes and returns the client's request that this server answers. Returns undefined if the server never got such a request,
   * or if the client no longer waits for the answer.
   */
  answered(id: string, peer: Peer): Request | undefined {
    const routed = this.#routed.get(id);
    if (routed?.peer !== peer) return undefined;
    this.#routed.delete(id);
    return routed.request;
  }

  /** Forgets a request that the client no longer waits for, and returns the server that got the request. */
  forget(id: string): Peer | undefined {
    const peer = this.peerOf(id);
    this.#routed.delete(id);
    return peer;
  }

  /** Routes to the server whose name is the prefix, and removes the prefix. */
  byName(frame: Request, path: readonly string[], what: string): Promise<void> {
    const at = param(frame, ...path);
    const name = stringAt(frame.bytes, at);
    const owner = name === undefined ? undefined : this.ownerOf(name);
    if (at === undefined || owner === undefined) {
      const servers = this.#options.peers.map((peer) => peer.name).join(', ');
      if (servers === '')
        throw new Refusal(INVALID_PARAMS, `there is no ${what} "${name ?? ''}"; call tools/list to see the existing tools`);
      throw new Refusal(
        INVALID_PARAMS,
        `there is no ${what} "${name ?? ''}"; names have the form <server>${this.#options.separator}<name>, and the servers are ${servers}`,
      );
    }
    return this.#forward(frame, owner.peer, [{ at, put: JSON.stringify(owner.name) }]);
  }

  /** Routes to the server that has the resource. */
  async byUri(frame: Request, path: readonly string[]): Promise<void> {
    const uri = stringAt(frame.bytes, param(frame, ...path)) ?? '';
    const peer = await this.#options.lists.ownerOf(uri, frame);
    if (peer === undefined)
      throw new Refusal(INVALID_PARAMS, `no server has the resource "${uri}"; call resources/list to see the existing resources`);
    return this.#forward(frame, peer, []);
  }

  async #forward(frame: Request, peer: Peer, edits: readonly Edit[]): Promise<void> {
    const routed = { peer, request: frame };
    this.#routed.set(frame.id, routed);
    if (!peer.ready) {
      await this.#options.starting.settled(peer);
      if (this.#routed.get(frame.id) !== routed) return; // The client has cancelled the request.
      if (!peer.ready) {
        this.#routed.delete(frame.id);
        this.#options.toClient(failing(frame, peer.trouble));
        return;
      }
    }
    const envelope = peer.generation === 'stateless' && !isStateless(frame) ? envelopeEdits(frame, this.#options.envelope()) : [];
    peer.send(editedRequest(frame, [...edits, ...envelope]));
  }

  /** Returns the server that a name belongs to, and the server's own name for the tool or prompt. */
  ownerOf(name: string): { peer: Peer; name: string } | undefined {
    // The longest name wins: with servers "a" and "a__b", "a__b__c" is the tool "c" of "a__b".
    const owners = this.#options.peers
      .filter((peer) => name.startsWith(`${peer.name}${this.#options.separator}`))
      .toSorted((a, b) => b.name.length - a.name.length);
    const peer = owners[0];
    return peer && { peer, name: name.slice(peer.name.length + this.#options.separator.length) };
  }
}
