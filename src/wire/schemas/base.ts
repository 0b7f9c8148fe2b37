/** The building blocks of the schemas: `given` inputs, times, names, pages. */
import { z } from '@hono/zod-openapi';
import type * as api from '../api.ts';
import { FORCES } from '../api.ts';
import { LEVELS } from '../../core/notification.ts';

/** An input without omitted keys: JSON and query strings cannot express undefined. */
export type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};
export const given = <T extends object>(value: T): Given<T> =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Given<T>;

export const time = z.number().openapi({ description: 'epoch milliseconds' });
export const nullable = <T extends z.ZodType>(schema: T): z.ZodNullable<T> => schema.nullable();
export const text = (max: number): z.ZodString => z.string().min(1).max(max);
export const anyJson = z.unknown().openapi({ description: 'any JSON' });
export const json = anyJson as unknown as z.ZodType<never>;

export const level = z.enum(LEVELS).openapi({ description: 'info, warning, error; critical interrupts' });
export const logParam = text(300).openapi({ description: 'an agent: project/agent', example: 'shop/coder' });
export const nameParam = text(128);

export const counts = z
  .object({ info: z.number(), warning: z.number(), error: z.number(), critical: z.number() })
  .openapi('Counts') satisfies z.ZodType<api.Counts>;

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string().openapi({ description: 'what is wrong, the value seen, and the way out' }),
    code: z.string().openapi({ description: 'stable, for programs' }),
    instance: z.string(),
    field: z.string().optional(),
    retryable: z.boolean().optional(),
  })
  .openapi('Problem');

export const force = z.enum(FORCES);

export const next = nullable(z.string()).openapi({ description: 'for the next page; null: that was all' });
