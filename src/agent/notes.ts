/** Moves and closes the notes that an agent leaves for its later conversations. */
import { conversationId, type ConversationId } from '../core/address.ts';
import type { Item } from '../core/items.ts';
import { formatKind, type NotificationId } from '../core/notification.ts';
import { queuedRecord } from '../core/records.ts';
import type { Conversation } from '../inbox/index.ts';

/** The conversation in which notes wait for the agent's next conversation. No agent runs in this conversation. */
export const NEXT: ConversationId = conversationId('~next');

/**
 * Moves the waiting notes of the agent's other conversations into this conversation. Call this function before each turn of the
 * conversation.
 */
export async function takeOverNotes(conversation: Conversation): Promise<void> {
  const { inbox, log, id } = conversation;
  const waiting = await inbox.store.items(log, { kind: 'open', conversation: NEXT });
  for (const item of waiting) {
    if (item.audience !== NEXT || item.state !== 'open' || writerOf(item) === id) continue;
    // If another conversation moves the notes at the same time, the store refuses one of the two appends.
    await inbox.store.append(log, [
      {
        type: 'notification_closed',
        conversation: NEXT,
        ids: [item.id],
        outcome: 'superseded',
        by: 'notify_self',
        reason: `the next conversation, ${id}, has a copy of the note`,
      },
      queuedRecord({ ...item.notification, id: inbox.ids.make('n') as NotificationId, requeues: item.id }, { conversation: id }),
    ]);
  }
}

/** Closes the notes of a conversation that has ended. Notes for later conversations stay open. */
export async function endNotes({ inbox, log, id }: Conversation): Promise<void> {
  for (const item of await inbox.store.items(log, { kind: 'open', conversation: id }))
    if (item.audience === id && isNote(item))
      await inbox.withdraw(log, { id: item.id }, { by: 'notify_self', reason: 'the conversation of the note has ended' });
}

const isNote = ({ notification: { kind, subscriber } }: Item): boolean =>
  (subscriber?.event.type ?? formatKind(kind)).startsWith('agent.self.');

const writerOf = ({ notification: { data } }: Item): ConversationId | undefined =>
  (data as { conversation?: ConversationId } | undefined)?.conversation;
