/** The types and functions for implementing a store, a host or a view. All are pure: no clock, no I/O. */
export { logKey } from './address.ts';
export { type Item } from './items.ts';
export type { Json } from './json.ts';
export { DEFAULT_POLICY } from './policy.ts';
export { type Draft } from './records.ts';
