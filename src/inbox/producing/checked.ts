import { cappedLevel } from '../../core/filter.ts';
import { makeNotification, type Notification, type NotificationInput } from '../../core/notification.ts';
import type { Policy } from '../../core/policy.ts';
import type { Context } from '../context.ts';
import { asAgent } from './inside.ts';
import { redactedJson, redactor } from './redact.ts';

/**
 * Makes a notification from a producer's input: checks the input, caps the level and redacts secrets. Throws `bad_notification`,
 * or `not_trusted` if an agent's command names a person.
 */
export function checked({ store, ids, speaker }: Context, given: NotificationInput, policy: Policy): Notification {
  const input = speaker === undefined ? given : asAgent(given, speaker);
  const clean = redactor(policy.redact);
  const made = makeNotification(input, {
    id: ids.make('n'),
    now: store.now(),
    ttlMs: policy.ttlMs,
    capped: (level, { source }) => cappedLevel(level, source, policy),
  });
  return {
    ...made,
    message: clean(made.message),
    ...(made.instruction === undefined ? {} : { instruction: clean(made.instruction) }),
    ...(made.needs === undefined ? {} : { needs: { ...made.needs, otherwise: clean(made.needs.otherwise) } }),
    ...(made.data === undefined ? {} : { data: redactedJson(made.data, clean) }),
  };
}
