/** Sends one event: through the bus, or as a plain notification if no subscriber listens to its type. */
import { defined } from '../../core/defined.ts';
import { makeEvent, notificationFrom, type Emitter, type EventInput } from '../../core/event.ts';
import type { NotificationInput } from '../../core/notification.ts';

/** The part of an `Inbox` that `say` needs. */
export type QueueInbox = { queue(to: string, input: NotificationInput): Promise<unknown> };

/**
 * `said`: a subscriber handled the event, or no subscriber listens to its type and the event was queued as a plain notification.
 * `ids`: the notifications that contain the event. Empty if the event only withdrew notifications. `skipped`: a subscriber
 * listens to the type, but queued nothing, for the reason `because`.
 */
export type Said =
  | { readonly kind: 'said'; readonly ids: readonly string[] }
  | { readonly kind: 'skipped'; readonly because: string };

export type SayOptions = {
  readonly inbox: QueueInbox;
  /** The bus. Without a bus, an event becomes one notification. */
  readonly emitter?: Emitter | undefined;
  readonly now: number;
  /** Replaces the event's message if no subscriber handles the event. */
  readonly plainly?: string;
};

/**
 * Sends an event. A retry with the same id is safe. Without a subscriber, the event's id is also the notification's id.
 */
export async function say(
  event: EventInput & { readonly id: string },
  { inbox, emitter, now, plainly }: SayOptions,
): Promise<Said> {
  if (emitter !== undefined) {
    const { heard } = await emitter.emit(event);
    if (heard.some((by) => by.kind !== 'skipped'))
      return { kind: 'said', ids: heard.flatMap((by) => ('id' in by ? [by.id] : [])) };
    const skipped = heard.find((by) => by.kind === 'skipped');
    if (skipped?.kind === 'skipped') return { kind: 'skipped', because: `${skipped.subscriber}: ${skipped.because}` };
  }
  const made = makeEvent(event, { id: event.id, now });
  await inbox.queue(made.subject, {
    ...notificationFrom(made),
    id: made.id,
    ...defined({ message: plainly }),
  });
  return { kind: 'said', ids: [made.id] };
}
