/** `earpiece/agent`. The turn loop on the log: an agent whose transcript is its carrier. */
import '../node-version.ts';

export * from '../agent/index.ts';
