/** The typed client of the HTTP API. */
export type { Client, CloudEventInput } from './calls.ts';
export { createClient, type ClientOptions } from './client.ts';
export { ApiError } from './problem.ts';
export type { StreamOptions, StreamQuery, StreamState } from './stream.ts';
export type * from '../api.ts';
export type * from '../../core/task.ts';
export { reasonIn } from '../../core/cause.ts';
export { curesOf, type Cure } from '../../core/verdict/cures.ts';
export type { Verdict } from '../../core/verdict/kinds.ts';
export { isDueAt } from '../../core/moments.ts';
export { isByAgent } from '../../core/records.ts';
export { named } from '../../core/verdict/quoted.ts';
export { isPlanStep, sayReason } from '../../core/verdict/reason.ts';
export { byWhom, cureCommand, markedBy, momentOf, sayForetold, sayVerdict, type TimeWords } from '../../core/verdict/words.ts';
