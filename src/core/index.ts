/** The types and functions of the core that the end-to-end tests use. */
export { logKey } from './address.ts';
export { type Item } from './items.ts';
export type { Json } from './json.ts';
export { DEFAULT_POLICY } from './policy.ts';
export { type Draft } from './records.ts';
