/** The building blocks of the schemas: `given` inputs, times, names, pages. */
// Gives each schema its `openapi`.
import '@hono/zod-openapi';
import { z } from 'zod';
import { LEVELS } from '../../core/notification.ts';
import type { Json } from '../../core/json.ts';
import { FORCES } from '../words.ts';

/** A value that crosses the wire in this shape: read-only, and without undefined fields. */
export type Wire<S extends z.ZodType> = Read<z.output<S>>;
type Read<T> =
  T extends OfCore<infer U>
    ? U
    : T extends readonly (infer E)[]
      ? readonly Read<E>[]
      : T extends object
        ? { readonly [K in keyof T]: Read<Exclude<T[K], undefined>> }
        : T;

/** Represents a core type that says more than the schema checks. */
type OfCore<T> = { readonly ofCore: T };
export const ofCore = <T>(schema: z.ZodType): z.ZodType<OfCore<T>> => schema as z.ZodType<OfCore<T>>;

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
export const json = ofCore<Json>(anyJson);

export const level = z.enum(LEVELS).openapi({ description: 'info, warning, error; critical interrupts' });
export const logParam = text(300).openapi({ description: 'an agent: project/agent', example: 'shop/coder' });
export const nameParam = text(128);

export const counts = z
  .object({ info: z.number(), warning: z.number(), error: z.number(), critical: z.number() })
  .openapi('Counts');
export type Counts = Wire<typeof counts>;

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string().openapi({ description: 'what is wrong, the value seen, and the way out' }),
    code: z.string().openapi({ description: 'stable, for programs' }),
    /** Names this one answer; the server's log has it too. */
    instance: z.string(),
    /** For bad input: the invalid field (`level`, `deliver.at`). */
    field: z.string().optional(),
    retryable: z.boolean().optional(),
  })
  .openapi('Problem');
/** RFC 9457. `code` is for programs: an `ErrorCode`, or one of the server's own. */
export type Problem = Wire<typeof problem>;

export const force = z.enum(FORCES);

export const next = nullable(z.string()).openapi({ description: 'for the next page; null: that was all' });

export type Page<T> = { readonly items: readonly T[]; readonly next: string | null };
export const page = <S extends z.ZodType>(item: S): z.ZodObject<{ items: z.ZodArray<S>; next: typeof next }> =>
  z.object({ items: z.array(item), next });
