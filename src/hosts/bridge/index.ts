export { Bridge, type BridgeOptions } from './bridge.ts';
export { lines, type FromBridge, type FromPlugin } from './protocol.ts';
