/** `earpiece/client`. The typed client of the HTTP API, for Node and browsers. */
import '../node-version.ts';

export * from '../wire/client/index.ts';
