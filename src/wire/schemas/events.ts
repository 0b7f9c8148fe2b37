/** Incoming events, and activity over time. */
import { z } from 'zod';
import { SEVERITIES } from '../../core/event.ts';
import { time, nullable, counts, type Wire } from './base.ts';

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
          z.object({
            subscriber: z.string(),
            kind: z.string(),
            ids: z.array(z.string()),
            /** For a skipped event: the reason. */
            because: nullable(z.string()),
          }),
        ),
      }),
    ),
  })
  .openapi('Emitted');
export type EmittedReply = Wire<typeof emitted>;

const delivery = z.object({ count: z.number(), p50Ms: nullable(z.number()), p95Ms: nullable(z.number()) }).openapi('Delivery');
/** From queue to delivery: half took at most `p50Ms`, 95 % at most `p95Ms`. Null if none was delivered. */
export type Delivery = Wire<typeof delivery>;

export const activity = z
  .object({
    project: nullable(z.string()),
    from: time,
    to: time,
    bucketMs: z.number(),
    /** `at` is the start of the bucket; `waiting` counts at its end. */
    buckets: z.array(
      z.object({
        at: time,
        queued: counts,
        delivered: counts,
        waiting: counts,
        /** Estimated tokens of the texts that models were sent. */
        tokens: z.number(),
        /** For notifications that were delivered in this bucket. */
        delivery,
      }),
    ),
    delivery,
    kinds: z.array(z.object({ kind: z.string(), queued: z.number(), delivered: z.number(), tokens: z.number() })),
    tokens: z.number(),
    /** There was more data than one answer covers. */
    truncated: z.boolean(),
  })
  .openapi('Activity');
export type ActivityReply = Wire<typeof activity>;
