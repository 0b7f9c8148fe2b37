/** `earpiece/client`. The typed client of the HTTP API, for Node and browsers. */
import '../node-version.ts';

export { ApiError, createClient } from '../wire/client/index.ts';
export type { Client, ClientOptions, StreamOptions, StreamQuery, StreamState } from '../wire/client/index.ts';
