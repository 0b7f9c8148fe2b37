export { Bridge } from './bridge.ts';
export type { BridgeCommand } from './client.ts';
export { lines, type FromBridge, type FromPlugin } from './protocol.ts';
