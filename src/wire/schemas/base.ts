/** The building blocks of the schemas: `given` inputs, times, names and pages. */
// This import adds the method `openapi` to each schema.
import '@hono/zod-openapi';
import { z } from 'zod';
import { LEVELS } from '../../core/notification.ts';
import { FORCES } from '../words.ts';

/** A type with optional keys instead of undefined values, because JSON and query strings cannot express undefined. */
export type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
export const given = <T extends object>(value: T): Given<T> =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Given<T>;

export const time = z.number().describe('epoch milliseconds');
export const nullable = <T extends z.ZodType>(schema: T): z.ZodNullable<T> => schema.nullable();
export const text = (max: number): z.ZodString => z.string().min(1).max(max);
/** The name of a person, without the blanks around it. */
export const personName = (max: number): z.ZodString => z.string().trim().min(1).max(max);
export const json = z.unknown().describe('any JSON');

export const level = z
  .enum(LEVELS)
  .describe('info, warning, error or critical. A critical notification interrupts the agent, unless its action is resume.');
export const logParam = text(300).openapi({ description: 'an agent: project/agent', example: 'shop/coder' });
export const nameParam = text(128);

export const counts = z
  .object({ info: z.number(), warning: z.number(), error: z.number(), critical: z.number() })
  .openapi('Counts');

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string().describe('the problem, the value seen, and what to do'),
    code: z.string().describe('the stable error code, for programs'),
    instance: z.string().describe("the name of this answer, which is also in the server's log"),
    field: z.string().optional().describe('for bad input: the invalid field (`level`, `deliver.at`)'),
    retryable: z.boolean().optional(),
  })
  .openapi('Problem');

export const force = z.enum(FORCES);

export const next = nullable(z.string()).describe('the start of the next page; null: this is the last page');

export const page = <S extends z.ZodType>(item: S): z.ZodObject<{ items: z.ZodArray<S>; next: typeof next }> =>
  z.object({ items: z.array(item), next });
