/** `earpiece/server`. The HTTP API, its streams and tokens, and the console's files. */
import '../node-version.ts';

export * from '../server/index.ts';
