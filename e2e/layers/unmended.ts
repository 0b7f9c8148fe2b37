/**
 * Files that break a rule of `circles.ts` today. When you have fixed a file, remove it here: the test fails for a listed file
 * that keeps the rule, so these lists only shrink. Never add one.
 */

/** Files that import each other in a circle. */
export const IN_A_CIRCLE: readonly string[] = [
  // inbox
  'inbox/arrival.ts',
  'inbox/conversation.ts',
  'inbox/fan-out.ts',
  'inbox/gate.ts',
  'inbox/inbox.ts',
  'inbox/lease.ts',
  'inbox/lift.ts',
  'inbox/mutes.ts',
  'inbox/open-limit.ts',
  'inbox/overtaken.ts',
  'inbox/pull.ts',
  'inbox/sightings.ts',
  'inbox/standing.ts',
  'inbox/succession.ts',
  'inbox/sweep.ts',
  'inbox/verdict-facts.ts',
  'inbox/why.ts',
  // stores
  'stores/sqlite/database.ts',
  'stores/sqlite/together.ts',
];

/** Files of `src` with more than 400 lines. */
export const TOO_LONG: readonly string[] = [
  // core
  'core/verdict.ts',
  // gateway
  'gateway/multiplex.ts',
  'gateway/relay.ts',
  'gateway/riding/inbox-rider.ts',
  // inbox
  'inbox/conversation.ts',
  'inbox/inbox.ts',
  // sources
  'sources/files/files-source.ts',
  // stores
  'stores/memory.ts',
  'stores/sqlite/store.ts',
  'stores/thread/store.ts',
  // wire
  'wire/api.ts',
];
