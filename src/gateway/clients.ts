import type { OpenCall } from './riding/carry.ts';
import type { Request } from '../mcp/frames/frame.ts';
import type { GuardedRider } from './riding/guarded.ts';
import { textOf } from '../mcp/frames/json.ts';
import { profileOf, type Profile } from './riding/profiles.ts';
import { clientInfoAt, clientInfoOf, type ClientInfo } from '../mcp/frames/protocol.ts';
import type { Connection } from './riding/rider.ts';
import { Settling } from './riding/settling.ts';
import { Unanswered } from './unasked.ts';

/** The state of one HTTP client of the gateway. */
export type HttpClient = {
  readonly connection: Connection;
  readonly settling: Settling;
  /** Requests whose answers the gateway may have to change, by the JSON text of their id. */
  readonly open: Map<string, OpenRequest>;
  /** The ids of the requests that the server has not answered yet. */
  readonly unanswered: Unanswered;
  seenAt: number;
};

export type OpenRequest =
  | { readonly kind: 'call'; readonly call: OpenCall; readonly request: Request }
  | { readonly kind: 'list'; readonly request: Request }
  | { readonly kind: 'handshake'; readonly request: Request };

/** When a new client arrives, the gateway forgets each client that has sent no request for this long. */
const IDLE_MS = 30 * 60_000;
const MAX_CLIENTS = 1_000;

export type ClientsOptions = {
  readonly rider: GuardedRider;
  readonly profile?: (client: ClientInfo | undefined) => Profile;
  /** The conversation of a client that names no conversation. */
  readonly session?: string;
  /** Returns the client's name for one of the gateway's own tools. */
  readonly nameOf?: (connection: Connection, tool: string) => string;
};

/**
 * Finds the client of each request, for an HTTP front that passes requests on. In the older protocol generation, each session is
 * a client. A request without a session belongs to the client with the same `clientInfo` and the same conversation header. Two
 * windows of one program therefore count as one client unless each sends its conversation.
 */
export class HttpClients {
  readonly #options: ClientsOptions;
  /** The clients, in the order of their last requests, oldest first. */
  readonly #clients = new Map<string, HttpClient>();

  constructor(options: ClientsOptions) {
    this.#options = options;
  }

  /** Returns the client of a session. An unknown session gets a new client without a name. */
  ofSession(id: string, conversation: string | undefined): HttpClient {
    return this.#known(id) ?? this.open(id, undefined, conversation);
  }

  /** Returns the client of a request that has no session. */
  ofRequest(request: Request, conversation: string | undefined): HttpClient {
    const at = clientInfoAt(request);
    const key = JSON.stringify([at ? textOf(request.bytes, at) : '', conversation ?? '']);
    return this.#known(key) ?? this.open(key, clientInfoOf(request), conversation);
  }

  open(key: string, client: ClientInfo | undefined, conversation: string | undefined): HttpClient {
    this.#forget();
    const { profile = profileOf, session, rider, nameOf } = this.#options;
    const named = conversation ?? session;
    const connection: Connection = {
      key,
      ...(client && { client }),
      ...(named !== undefined && { session: named }),
      profile: profile(client),
      ...(nameOf && { nameOf: (tool: string): string => nameOf(connection, tool) }),
    };
    const opened: HttpClient = {
      connection,
      settling: new Settling(),
      open: new Map(),
      unanswered: new Unanswered(),
      seenAt: performance.now(),
    };
    opened.settling.cancelsAnswered = connection.profile.cancelsAnswered === true;
    this.#clients.set(key, opened);
    rider.opened(connection);
    return opened;
  }

  end(key: string): void {
    const client = this.#clients.get(key);
    if (client === undefined) return;
    this.#clients.delete(key);
    client.settling.end();
    this.#options.rider.closed(client.connection);
  }

  close(): void {
    for (const key of this.#clients.keys()) this.end(key);
  }

  #known(key: string): HttpClient | undefined {
    const client = this.#clients.get(key);
    if (client === undefined) return undefined;
    client.seenAt = performance.now();
    this.#clients.delete(key);
    this.#clients.set(key, client);
    return client;
  }

  #forget(): void {
    const now = performance.now();
    for (const [key, { seenAt }] of this.#clients) {
      if (now - seenAt <= IDLE_MS && this.#clients.size < MAX_CLIENTS) return;
      this.end(key);
    }
  }
}
