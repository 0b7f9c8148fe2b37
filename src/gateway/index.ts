export { startGateway, type Closed, type Front, type Gateway, type GatewayOptions } from './gateway.ts';
export { profileOf, PROFILES, type Profile, type ProfileKind } from './riding/profiles.ts';
export { NOTICES, SIGNAL } from './riding/results.ts';
export { noDelivery, noRider } from './riding/rider.ts';
export type {
  Awaitable,
  Call,
  CallToolResult,
  Connection,
  Delivery,
  OwnAnswer,
  OwnCall,
  OwnTool,
  ReleaseReason,
  Result,
  Ride,
  Rider,
  UpstreamEvent,
  Verdict,
} from './riding/rider.ts';
export type { ClientInfo } from '../mcp/frames/protocol.ts';
export type { HttpUpstream, StdioUpstream, Upstream } from '../mcp/upstream.ts';
