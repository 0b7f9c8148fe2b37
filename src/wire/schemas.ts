/** The shapes of `wire/api.ts` as schemas, which validate requests and make the OpenAPI document. */
export { given, level, logParam, nameParam, problem } from './schemas/base.ts';
export * from './schemas/access.ts';
export * from './schemas/agents.ts';
export * from './schemas/events.ts';
export * from './schemas/notifications.ts';
export * from './schemas/settings.ts';
export * from './schemas/tasks.ts';
