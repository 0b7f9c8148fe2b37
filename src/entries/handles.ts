/** `earpiece/handles`. Background tools: handles, await, processes and terminals. */
import '../node-version.ts';

export * from '../sources/handles/index.ts';
