/** `earpiece/handles`. Background tools: handles, await, processes and terminals. */
import '../node-version.ts';

export * from '../handles/index.ts';
