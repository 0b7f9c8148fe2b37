/** `earpiece/server`: the HTTP API with its streams and tokens, in your program. */
import '../node-version.ts';

import type { WebhookReceiver } from '../sources/webhooks/index.ts';
import { check, checkText, innerOf, type Earpiece, type Table } from '../library/index.ts';
import { createServer as create, type Listening, type ServerSettings, type TokenRequest } from '../server/index.ts';
import type { CreatedToken, TokenInfo } from '../wire/api.ts';
import { TOKEN_KINDS } from '../wire/words.ts';

export type ServerOptions = ServerSettings & {
  readonly earpiece: Earpiece;
  /** The version of your program. `GET /healthz` and `/openapi.json` show it. Default `0`. */
  readonly version?: string;
  /** Returns the current webhooks by the name in their path. By default, there are no webhooks. */
  readonly webhooks?: () => ReadonlyMap<string, WebhookReceiver>;
};

export interface Server {
  /** Answers one request, for a program that already has an HTTP server. */
  fetch(request: Request): Promise<Response>;
  /** Creates, lists and revokes the tokens of programs. In a command of an agent, each of these methods throws `not_trusted`. */
  readonly tokens: {
    create(request: TokenRequest): Promise<CreatedToken>;
    list(): Promise<readonly TokenInfo[]>;
    /** Revokes a token. Resolves to false if the token does not exist. */
    revoke(id: string): Promise<boolean>;
  };
  /** Begins to listen. Throws `bad_argument` for a port in use, and for a host other than loopback if no token exists. */
  listen(at?: { readonly host?: string; readonly port?: number }): Promise<Listening>;
  /** Makes a URL that logs in one browser, once. Throws `not_trusted` in a command of an agent. */
  loginUrl(): Promise<string>;
  /** Ends the streams and finishes the requests in flight. The `earpiece` of the options stays open. */
  stop(): Promise<void>;
}

const RATE = { keys: { perSecond: { needed: 'amount' }, burst: { needed: 'amount' } } } as const;
const SERVER: Table<ServerOptions> = {
  earpiece: { needed: 'any' },
  version: 'text',
  webhooks: 'function',
  allowedHosts: { listOf: 'name' },
  consoleFolder: 'name',
  log: 'function',
  rates: { keys: { token: RATE, sendToken: RATE, anonymous: RATE, failures: RATE } },
  report: 'function',
  timeouts: { keys: { headers: 'amount', request: 'amount', keepAlive: 'amount', stop: 'amount' } },
};
const LISTEN: Table<{ readonly host?: string; readonly port?: number }> = { host: 'name', port: 'port' };
const TOKEN: Table<TokenRequest> = {
  kind: { needed: TOKEN_KINDS },
  name: { needed: 'name' },
  project: 'text',
  agent: 'text',
  conversation: 'text',
  expiresInMs: 'amount',
};

export function createServer(options: ServerOptions): Server {
  check('createServer', options, SERVER);
  const { earpiece, version = '0', ...rest } = options;
  const inbox = innerOf(earpiece);
  const { bus, toggles, callersEvents: emitter } = inbox;
  const server = create({ ...rest, inbox, project: earpiece.project, version, emitter, bus, toggles });
  return {
    fetch: async (request) => server.app.fetch(request),
    tokens: {
      create: async (request) => {
        check('tokens.create', request, TOKEN);
        return server.tokens.create(request);
      },
      list: () => server.tokens.list(),
      revoke: async (id) => {
        checkText('tokens.revoke', 'the id', id);
        return server.tokens.revoke(id);
      },
    },
    listen: async (at = {}) => {
      check('listen', at, LISTEN);
      return server.listen(at);
    },
    loginUrl: () => server.loginUrl(),
    stop: () => server.stop(),
  };
}

export type { CreatedToken, TokenInfo };
export type { Listening, TokenRequest } from '../server/index.ts';
