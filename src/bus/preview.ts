/**
 * Previews the notification of a sample event without queueing anything, and makes the test notification that quotes this
 * preview.
 */
import { defined } from '../core/defined.ts';
import { EarpieceError } from '../core/errors.ts';
import { makeEvent } from '../core/event.ts';
import { ANYONE, settle, type Item } from '../core/items.ts';
import { NO_FACTS, plan } from '../core/make-plan.ts';
import {
  formatKind,
  LIMITS,
  makeNotification,
  type Level,
  type NotificationInput,
  type Subscribed,
} from '../core/notification.ts';
import type { Line } from '../core/plan.ts';
import type { Rendered } from '../core/ports.ts';
import { DEFAULT_POLICY } from '../core/policy.ts';
import { queuedRecord } from '../core/records.ts';
import { render } from '../core/views/index.ts';
import { sampleEvent } from './samples.ts';
import { MOMENT_OF, shape } from './shape.ts';
import type { Subscriber } from './subscriber.ts';
import { contextOf } from './templates/context.ts';
import type { TemplateEngine } from './templates/engine.ts';

export type Preview = {
  readonly type: string;
  readonly kind: string;
  readonly level: Level;
  /** The text for the model, without the frame. */
  readonly words: string;
  /** The reason why the template failed. `words` is then the event's own message. */
  readonly failed?: string;
  /** The notification that the bus would queue for the event. */
  readonly real: { readonly input: NotificationInput; readonly subscribed: Subscribed };
};

export async function previewOf(
  subscriber: Subscriber,
  engine: Pick<TemplateEngine, 'render'> | undefined,
  { now, subject }: { readonly now: number; readonly subject: string },
): Promise<Preview> {
  const event = makeEvent({ ...sampleEvent(subscriber), subject }, { id: 'preview', now });
  const { input, subscribed } = shape(subscriber, event, undefined);
  const ttlMs = { info: null, warning: null, error: null, critical: null };
  const notification = { ...makeNotification(input, { id: 'preview', now, ttlMs }), subscriber: subscribed };
  const made = settle(queuedRecord(notification, {}), { seq: 1, at: now }, []);
  const items: readonly Item[] = made.kind === 'settled' ? made.items : [];
  // Not every moment is due at this contact point, so the preview replaces each moment by `next`.
  const { lines } = plan(
    items.map((item) => ({ ...item, audience: ANYONE, notification: { ...item.notification, deliver: 'next' } })),
    'tool_batch_end',
    DEFAULT_POLICY,
    NO_FACTS,
    now,
  );
  const [line] = lines;
  if (line === undefined) throw new EarpieceError('bad_event', `the sample event of type ${event.type} makes no line`);
  const { template } = subscriber.output;
  const rendered = template === undefined ? undefined : await engine?.render(template, contextOf(line));
  const failed = failureOf(rendered);
  const said: Line =
    failed === undefined ? { ...line, ...defined({ rendered: textOf(rendered) }) } : { ...line, unrendered: true };
  const view = render('default', {
    lines: [said],
    rest: undefined,
    mark: 'test',
    tellMark: false,
    pulls: false,
    maxItemChars: DEFAULT_POLICY.maxItemChars,
    maxTokens: DEFAULT_POLICY.maxTokens,
    timeZone: 'UTC',
  });
  return {
    type: event.type,
    kind: formatKind(notification.kind),
    level: notification.level,
    words: view.items[0]?.text ?? notification.message,
    real: { input, subscribed },
    ...defined({ failed }),
  };
}

const textOf = (rendered: Rendered | undefined): string | undefined => (rendered?.kind === 'text' ? rendered.text : undefined);

/** Returns the reason why a template failed. As at a delivery, a template that renders an empty text has failed. */
function failureOf(rendered: Rendered | undefined): string | undefined {
  if (rendered?.kind === 'failed') return rendered.reason;
  return textOf(rendered)?.trim() === '' ? 'the rendered text is empty' : undefined;
}

/** The source in the kind of every test notification. People and models see this source, and filters and mutes can name it. */
export const TEST_SOURCE = 'test';

/**
 * Makes a test notification. The message first says that nothing happened, and then quotes the previewed text. The notification's level
 * `info` does not interrupt an agent, and by default does not wake an agent.
 */
export function testNotification(subscriber: Subscriber, { kind, words }: Preview, by: string): NotificationInput {
  const deliver = MOMENT_OF[subscriber.output.injectAt];
  return {
    kind: `${TEST_SOURCE}.${kind.length <= LIMITS.nameChars ? kind : 'notification'}`,
    level: 'info',
    message: `Only a test: nothing happened, and there is nothing to do. ${by.replace(/^a /u, 'A ')} tried the subscriber "${subscriber.name}", which would say:\n${words}`,
    deliver: deliver === 'now' ? 'next' : deliver,
    ttlMs: TEST_TTL_MS,
  };
}

const TEST_TTL_MS = 3_600_000;
