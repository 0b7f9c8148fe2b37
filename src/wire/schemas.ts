/**
 * The schemas of the HTTP API. They validate requests, and the OpenAPI document and the types of `wire/api.ts` are made from
 * them.
 */
export { given, level, logParam, nameParam, problem } from './schemas/base.ts';
export * from './schemas/access.ts';
export * from './schemas/agents.ts';
export * from './schemas/events.ts';
export * from './schemas/notifications.ts';
export * from './schemas/settings.ts';
export * from './schemas/tasks.ts';
