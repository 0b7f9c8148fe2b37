/**
 * The schemas of the HTTP API. The schemas validate requests. The OpenAPI document and the types of `wire/api.ts` are made from
 * the schemas.
 */
export { given, level, logParam, nameParam, problem } from './schemas/base.ts';
export * from './schemas/access.ts';
export * from './schemas/agents.ts';
export * from './schemas/events.ts';
export * from './schemas/notifications.ts';
export * from './schemas/settings.ts';
export * from './schemas/tasks.ts';
