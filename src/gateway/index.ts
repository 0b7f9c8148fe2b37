export { startGateway, type Closed, type Front, type Gateway, type GatewayOptions } from './gateway.ts';
export { profileOf, PROFILES, type ClientInfo, type Profile, type ProfileKind } from './profiles.ts';
export { NOTICES, SIGNAL } from './results.ts';
export { noDelivery, noRider } from './rider.ts';
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
} from './rider.ts';
export type { HttpUpstream, StdioUpstream, Upstream } from './upstream.ts';
