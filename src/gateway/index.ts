export { startGateway, type Closed, type Front, type Gateway, type GatewayOptions } from './gateway.ts';
export { type ProfileKind } from './riding/profiles.ts';
export { noDelivery, noRider } from './riding/rider.ts';
export type { Delivery, OwnTool, ReleaseReason, Rider } from './riding/rider.ts';
export type { HttpUpstream, StdioUpstream, Upstream } from '../mcp/upstream.ts';
