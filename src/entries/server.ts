/** `earpiece/server`. The HTTP API with its streams and tokens, in your program. */
import '../node-version.ts';

import type { WebhookReceiver } from '../sources/webhooks/index.ts';
import { check, innerOf, type Earpiece, type Table } from '../library/index.ts';
import { createServer as create, type Listening, type ServerSettings, type TokenRequest } from '../server/index.ts';
import type { CreatedToken, TokenInfo } from '../wire/api.ts';

export type ServerOptions = ServerSettings & {
  readonly earpiece: Earpiece;
  /** The version of your program, for `GET /api/health`. Default `0`. */
  readonly version?: string;
  /** By the name in their path, as they are now. Default: none. */
  readonly webhooks?: () => ReadonlyMap<string, WebhookReceiver>;
};

export interface Server {
  /** Answers one request, for a program that already has an HTTP server. */
  fetch(request: Request): Promise<Response>;
  /** Creates, lists and revokes the tokens of programs. */
  readonly tokens: {
    create(request: TokenRequest): Promise<CreatedToken>;
    list(): Promise<readonly TokenInfo[]>;
    /** False: there is no such token. */
    revoke(id: string): Promise<boolean>;
  };
  /** Throws `bad_argument` for a port that is taken, and for an address of the network while there is no token. */
  listen(at?: { readonly host?: string; readonly port?: number }): Promise<Listening>;
  /** An address that logs one browser in, once. */
  loginUrl(): Promise<string>;
  /** Ends the streams and finishes what is in flight. The earpiece stays open. */
  stop(): Promise<void>;
}

const SERVER: Table<ServerOptions> = {
  earpiece: { needed: 'any' },
  version: 'text',
  webhooks: 'any',
  allowedHosts: 'any',
  consoleFolder: 'text',
  log: 'any',
  rates: 'any',
  report: 'any',
  timeouts: 'any',
};

export function createServer(options: ServerOptions): Server {
  check('createServer', options, SERVER);
  const { earpiece, version = '0', ...rest } = options;
  const inbox = innerOf(earpiece);
  const { bus, toggles } = inbox;
  const server = create({ ...rest, inbox, project: earpiece.project, version, emitter: bus, bus, toggles });
  return {
    fetch: async (request) => server.app.fetch(request),
    tokens: server.tokens,
    listen: (at) => server.listen(at),
    loginUrl: () => server.loginUrl(),
    stop: () => server.stop(),
  };
}

export type { Listening, TokenRequest } from '../server/index.ts';
