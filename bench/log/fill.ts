import type { ConversationId, LogKey } from '../../src/core/address.ts';
import type { NotificationId } from '../../src/core/notification.ts';
import type { Store } from '../../src/core/ports.ts';
import type { Draft } from '../../src/core/records.ts';
import { data, message } from './ours.ts';

const RECORDS_OF_A_TURN = 14;

/**
 * Appends the records of a typical agent to its log: turns with five tool calls each, and one notification delivered per turn.
 * The last turn is whole, so the log may get a few records more than `to`. To continue an earlier fill, pass its `to` as `from`.
 */
export async function fill(
  store: Store,
  { log, conversation, from = 0, to }: { log: LogKey; conversation: ConversationId; from?: number; to: number },
): Promise<void> {
  const batch: Draft[] = [];
  const turns = Math.ceil(to / RECORDS_OF_A_TURN);
  for (let turn = Math.ceil(from / RECORDS_OF_A_TURN); turn < turns; turn++) {
    batch.push(...turnOf(turn, conversation));
    if (batch.length < 2000 && turn < turns - 1) continue;
    const appended = await store.append(log, batch.splice(0), { withinMs: 60_000 });
    if (appended.kind !== 'appended') throw new Error(`filling the log: ${appended.kind}`);
  }
}

function turnOf(turn: number, conversation: ConversationId): Draft[] {
  const id = `n_old_${turn}` as NotificationId;
  const notification = {
    id,
    kind: { source: 'tool', name: 'stopped' },
    level: 'info',
    message: message(turn),
    data: data(turn),
  } as const;
  const calls = Array.from({ length: 5 }, (_, i) => `call_${turn}_${i}`);
  return [
    { type: 'turn_start', conversation },
    { type: 'chat_request', conversation, content: `What about part ${turn}?` },
    { type: 'system_notification_queued', ...notification },
    ...calls.map((call) => ({
      type: 'tool_call_request',
      conversation,
      id: call,
      name: 'read',
      arguments: { path: `src/part-${turn}.ts` },
    })),
    ...calls.map((call, i) => ({
      type: 'tool_call_response',
      conversation,
      id: call,
      content: `export const part${turn} = ${i};\n`.repeat(4),
      is_error: false,
      ...(i === 4
        ? {
            notifications: [notification],
            view: { format: 'default', items: [{ ids: [id], text: notification.message }], text: notification.message },
          }
        : {}),
    })),
    { type: 'chat_response', conversation, message: `Part ${turn} is fine.` },
  ];
}
