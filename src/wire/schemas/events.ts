/** Incoming events, and activity over time. */
import { z } from '@hono/zod-openapi';
import type * as api from '../api.ts';
import { SEVERITIES } from '../../core/event.ts';
import { time, nullable, counts } from './base.ts';

/** Their source checks CloudEvents; this schema is for the document. */
export const cloudEvent = z
  .looseObject({
    specversion: z.string(),
    id: z.string(),
    source: z.string(),
    type: z.string(),
    subject: z.string().optional().openapi({ description: 'the address whom it concerns' }),
    time: z.string().optional(),
    datacontenttype: z.string().optional(),
    data: z.unknown().optional().openapi({ description: 'any JSON' }),
    severity: z.enum(SEVERITIES).optional(),
  })
  .openapi('CloudEvent');
export const emitted = z
  .object({
    events: z.array(
      z.object({
        id: z.string(),
        source: z.string(),
        type: z.string(),
        heard: z.array(
          z.object({ subscriber: z.string(), kind: z.string(), ids: z.array(z.string()), because: nullable(z.string()) }),
        ),
      }),
    ),
  })
  .openapi('Emitted') satisfies z.ZodType<api.EmittedReply>;

const delivery = z
  .object({ count: z.number(), p50Ms: nullable(z.number()), p95Ms: nullable(z.number()) })
  .openapi('Delivery') satisfies z.ZodType<api.Delivery>;

export const activity = z
  .object({
    project: nullable(z.string()),
    from: time,
    to: time,
    bucketMs: z.number(),
    buckets: z.array(z.object({ at: time, queued: counts, delivered: counts, waiting: counts, tokens: z.number(), delivery })),
    delivery,
    kinds: z.array(z.object({ kind: z.string(), queued: z.number(), delivered: z.number(), tokens: z.number() })),
    tokens: z.number(),
    truncated: z.boolean(),
  })
  .openapi('Activity') satisfies z.ZodType<api.ActivityReply>;
