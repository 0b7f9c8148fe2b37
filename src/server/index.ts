/** Serves the HTTP API, its streams, its tokens, and the console's files. */
export { isLoopbackHost } from './guards.ts';
export { createServer, type Listening, type Server, type ServerOptions, type ServerSettings } from './server.ts';
export { Tokens } from './tokens.ts';
export type { TokenRequest } from '../wire/api.ts';
export { openTelemetry } from './telemetry.ts';
