/** Passes the requests of several servers to one client, each under an id that is unique for the client. */
import { errorFrame, type Failure, type Request, type Success } from '../../mcp/frames/frame.ts';
import { edited, textOf } from '../../mcp/frames/json.ts';
import { METHOD_NOT_FOUND } from '../../mcp/frames/protocol.ts';
import type { Peer } from '../peer.ts';
import type { Outgoing } from '../riding/carry.ts';

export class Asking {
  readonly #toClient: (out: Outgoing) => boolean;
  /** Requests that the client has not answered, by the id that the client got. */
  readonly #asked = new Map<string, { readonly peer: Peer; readonly id: string }>();
  #count = 0;

  constructor(toClient: (out: Outgoing) => boolean) {
    this.#toClient = toClient;
  }

  /** Answers a server's request with an error, because a stateless client accepts no requests. */
  refuse(peer: Peer, frame: Request): void {
    const why = `${frame.method} cannot be sent: the client speaks the stateless protocol, which has no requests from servers`;
    peer.sendBytes(errorFrame(frame.id, METHOD_NOT_FOUND, why));
  }

  ask(peer: Peer, frame: Request): boolean {
    this.#count += 1;
    const id = `"${peer.name.replaceAll(/[^\w-]/g, '_')}-${this.#count}"`;
    this.#asked.set(id, { peer, id: textOf(frame.bytes, frame.idAt) });
    return this.#toClient({ bytes: edited(frame.bytes, [{ at: frame.idAt, put: id }]) });
  }

  /** Passes the client's answer to the server that asked. */
  answered(frame: Success | Failure): void {
    const asked = this.#asked.get(frame.id);
    if (asked === undefined) return;
    this.#asked.delete(frame.id);
    asked.peer.sendBytes(edited(frame.bytes, [{ at: frame.idAt, put: asked.id }]));
  }
}
