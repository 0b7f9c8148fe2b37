/** `earpiece/client`: the typed client of the HTTP API, for Node and browsers. */
import '../node-version.ts';

import { bad, check, type Table } from '../library/arguments.ts';
import { createClient as create, type Client, type ClientOptions } from '../wire/client/index.ts';

const CLIENT: Table<ClientOptions> = { url: 'url', token: 'name', fetch: 'function', timeoutMs: 'amount' };

/** Makes a client. Throws `bad_argument` for invalid options. A call that fails rejects with `ApiError`. */
export function createClient(options: ClientOptions = {}): Client {
  check('createClient', options, CLIENT);
  const isPage = 'location' in globalThis;
  if (options.url === undefined && options.fetch === undefined && !isPage)
    throw bad('createClient: url is missing; pass the URL of the server, such as "http://127.0.0.1:4747"', 'url');
  return create(options);
}

export { ApiError } from '../wire/client/index.ts';
export type { Client, ClientOptions };
export type { RecordType } from '../core/record-types.ts';
export type { StreamOptions, StreamQuery, StreamState } from '../wire/client/index.ts';
