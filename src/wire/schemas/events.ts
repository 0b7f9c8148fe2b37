/** The schemas of incoming events, and of activity over time. */
import { z } from 'zod';
import { SEVERITIES } from '../../core/event.ts';
import { time, nullable, counts } from './base.ts';

/** Only the API document uses this schema. `eventFromCloudEvent` checks the values. */
export const cloudEvent = z
  .looseObject({
    specversion: z.string(),
    id: z.string(),
    source: z.string(),
    type: z.string(),
    subject: z.string().optional().describe('the address of the agents that the event concerns'),
    time: z.string().optional(),
    datacontenttype: z.string().optional(),
    data: z.unknown().optional().describe('any JSON'),
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
        loweredTo: nullable(z.enum(SEVERITIES)).describe(
          'the severity to which the event was lowered, because the token allows no higher severity',
        ),
        heard: z.array(
          z.object({
            subscriber: z.string(),
            kind: z.string(),
            ids: z.array(z.string()),
            because: nullable(z.string()).describe('for a skipped event: the reason'),
          }),
        ),
      }),
    ),
  })
  .openapi('Emitted');

export const delivery = z
  .object({ count: z.number(), p50Ms: nullable(z.number()), p95Ms: nullable(z.number()) })
  .openapi('Delivery');

export const activity = z
  .object({
    project: nullable(z.string()),
    from: time,
    to: time,
    bucketMs: z.number(),
    buckets: z
      .array(
        z.object({
          at: time,
          queued: counts,
          delivered: counts,
          waiting: counts,
          tokens: z.number().describe('estimated tokens of the texts for models'),
          delivery: delivery.describe(
            'the times from queue to delivery, for the notifications that were delivered in this bucket',
          ),
        }),
      )
      .describe(
        '`at` is the start of the bucket; `queued` and `delivered` are counts in the bucket, `waiting` is the count at its end. ' +
          'No series counts a notification that was folded into another notification',
      ),
    delivery,
    kinds: z.array(z.object({ kind: z.string(), queued: z.number(), delivered: z.number(), tokens: z.number() })),
    tokens: z.number(),
    truncated: z.boolean().describe('whether the answer counts only the newest notifications, because the period has too many'),
  })
  .openapi('Activity');
