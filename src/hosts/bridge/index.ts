export { Bridge } from './bridge.ts';
export { lines, type FromBridge, type FromPlugin } from './protocol.ts';
