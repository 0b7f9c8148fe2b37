/** `earpiece/sources`. What sees things happen: files, repositories, commands, reminders, webhooks. */
import '../node-version.ts';

export * from '../sources/files/index.ts';
export * from '../sources/git/index.ts';
export * from '../sources/processes/index.ts';
export * from '../sources/timers/index.ts';
export * from '../sources/webhooks/index.ts';
export { SOURCES, type SourceEntry, type SourceSwitch } from '../sources/table.ts';
export type { Source } from '../sources/source.ts';
