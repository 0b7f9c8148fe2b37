/** The typed client of the HTTP API. */
export { createClient, type Client, type ClientOptions, type CloudEventInput } from './client.ts';
export { ApiError } from './problem.ts';
export type { StreamOptions, StreamQuery, StreamState } from './stream.ts';
export type * from '../core/api.ts';
export type * from '../core/task.ts';
