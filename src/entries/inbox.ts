/** `earpiece/inbox`. The shell round the core: queue, carry, offer, gate. The only way to a store. */
import '../node-version.ts';

export * from '../inbox/index.ts';
