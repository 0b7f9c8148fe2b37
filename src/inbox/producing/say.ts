/** One event to whoever hears it: through the bus, and where nothing there hears its type as a notification of its own. */
import { makeEvent, notificationFrom, type Emitter, type EventInput } from '../../core/event.ts';
import type { NotificationInput } from '../../core/notification.ts';

/** What is needed of an `Inbox`. */
export type QueueInbox = { queue(to: string, input: NotificationInput): Promise<unknown> };

/** `skipped`: a subscriber hears it and queued nothing, as its settings say. */
export type Said =
  | { readonly kind: 'said'; readonly ids: readonly string[] }
  | { readonly kind: 'skipped'; readonly because: string };

export type SayOptions = {
  readonly inbox: QueueInbox;
  /** Without a bus one event is one notification. */
  readonly emitter?: Emitter | undefined;
  readonly now: number;
  /** Instead of the event's message where no subscriber's template says it. */
  readonly plainly?: string;
};

/** The event's id makes it one: said again it changes nothing. Without a bus it is the notification's id, as it is. */
export async function say(
  event: EventInput & { readonly id: string },
  { inbox, emitter, now, plainly }: SayOptions,
): Promise<Said> {
  if (emitter !== undefined) {
    const { heard } = await emitter.emit(event);
    const ids = heard.flatMap((by) => ('id' in by ? [by.id] : []));
    if (ids.length > 0) return { kind: 'said', ids };
    const skipped = heard.find((by) => by.kind === 'skipped');
    if (skipped?.kind === 'skipped') return { kind: 'skipped', because: `${skipped.subscriber}: ${skipped.because}` };
  }
  const made = makeEvent(event, { id: event.id, now });
  await inbox.queue(made.subject, {
    ...notificationFrom(made),
    id: made.id,
    ...(plainly === undefined ? {} : { message: plainly }),
  });
  return { kind: 'said', ids: [made.id] };
}
