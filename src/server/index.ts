/** The HTTP API, its streams, its tokens, and the console's files. */
export { isLoopbackHost } from './guards.ts';
export { createServer, type Listening, type Server, type ServerOptions, type ServerSettings, type Timeouts } from './server.ts';
export { Tokens, type Principal } from './tokens.ts';
export type { TokenRequest } from '../wire/api.ts';
export { loginUrl, makeCode } from './sessions.ts';
export { openTelemetry, type Telemetry } from './telemetry.ts';
export { DEFAULT_RATES, type Rate, type Rates } from './limits.ts';
export type { Api, Deps as RouteDeps } from './context.ts';
