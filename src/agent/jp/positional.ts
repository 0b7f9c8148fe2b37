/**
 * Derives which notifications a conversation of JP has delivered. By JP's rule, only notifications that were queued after the
 * last message to the model are pending. JP's notifications have no ids, so they get ids from their positions.
 */
import { makeNotification, type Kind, type Level, type Notification, type NotificationInput } from '../../core/notification.ts';
import type { Json } from '../../core/json.ts';
import type { Policy } from '../../core/policy.ts';
import { queuedRecord, recorded, type Draft } from '../../core/records.ts';
import type { ConversationId } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { render } from '../../core/views/index.ts';

type JpNotification = { readonly kind: Kind | string; readonly level?: Level; readonly message: string };

/**
 * Adds ids to queue records. Adds to each carrier its delivered notifications, with their ids and a view. A notification that was
 * not delivered closes as `filtered`, unless it is still pending.
 */
export function closeByPosition(
  records: readonly Draft[],
  options: {
    readonly prefix: string;
    readonly conversation: ConversationId;
    readonly now: number;
    readonly ttlMs: Policy['ttlMs'];
  },
): readonly Draft[] {
  const out: Draft[] = [];
  let waiting: Notification[] = [];
  let n = 0;
  for (const record of records) {
    if (record.type === 'system_notification_queued') {
      const given = record as unknown as JpNotification & { metadata?: Json };
      const input: NotificationInput = {
        kind: given.kind,
        message: given.message,
        ...defined({ level: given.level }),
        expiresAt: null,
      };
      const notification = makeNotification(input, { id: `${options.prefix}-${n++}`, now: options.now, ttlMs: options.ttlMs });
      waiting.push(notification);
      out.push({
        ...queuedRecord(notification, { conversation: options.conversation }),
        ...defined({ metadata: given.metadata }),
      });
      continue;
    }
    if (record.type !== 'chat_request' && record.type !== 'tool_call_response') {
      out.push(record);
      continue;
    }
    const carried = ((record as { notifications?: readonly JpNotification[] }).notifications ?? []).flatMap((given) => {
      const at = waiting.findIndex((w) => w.message === given.message && kindOf(w.kind) === kindOf(given.kind));
      return at < 0 ? [] : waiting.splice(at, 1);
    });
    const { notifications: _notifications, ...plain } = record as Draft & { notifications?: unknown };
    out.push(
      carried.length === 0
        ? plain
        : { ...plain, notifications: carried.map((c) => recorded(c)), view: viewOf(carried, options.now) },
    );
    if (waiting.length > 0)
      out.push({
        type: 'notification_closed',
        ids: waiting.map((w) => w.id),
        outcome: 'filtered',
        by: 'import',
        reason: 'JP sent the next message to the model without this notification',
      });
    waiting = [];
  }
  return out;
}

const kindOf = (kind: Kind | string): string => (typeof kind === 'string' ? kind : `${kind.source}.${kind.name}`);

const viewOf = (carried: readonly Notification[], now: number): ReturnType<typeof render> =>
  render('markdown', {
    lines: carried.map((n) => ({
      ids: [n.id],
      kind: n.kind,
      level: n.level,
      messages: [n.message],
      count: 1,
      firstAt: now,
      lastAt: now,
      data: [],
    })),
    mark: '0000',
    tellMark: false,
    pulls: false,
    maxItemChars: 2_000,
    timeZone: 'UTC',
  });
