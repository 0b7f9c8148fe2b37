import type { Item } from '../core/items.ts';
import { formatKind, isInterrupt } from '../core/notification.ts';
import type { Withheld } from '../core/ports.ts';
import type { Offer } from './conversation.ts';

/** One notification as `get_notifications` shows it; the names are those of the tool's users. */
export type PulledNotification = {
  readonly id: string;
  /** `interrupt`, `message` (a person's words), else the kind. */
  readonly type: string;
  readonly action: string | null;
  readonly level: string;
  readonly message: string;
  readonly instruction: string | null;
  /** ISO 8601, UTC. */
  readonly created_at: string;
  readonly task_id?: string;
  readonly count?: number;
  readonly from?: string;
};

export type Pulled = {
  readonly notifications: readonly PulledNotification[];
  /** How many more wait behind these. */
  readonly more: number;
  readonly withheld: readonly { readonly tool: string; readonly at: string; readonly result: string }[];
  /** To confirm once the answer is out; undefined when nothing was claimed. */
  readonly offer?: Offer;
};

export function pulled(items: readonly Item[], more: number, withheld: readonly Withheld[], offer: Offer | undefined): Pulled {
  return {
    notifications: items.map(shown),
    more,
    withheld: withheld.map(({ tool, at, body }) => ({ tool, at: new Date(at).toISOString(), result: body })),
    ...(offer ? { offer } : {}),
  };
}

function shown({ notification: n, at, count, differs }: Item): PulledNotification {
  const taskId = typeof n.data === 'object' && n.data !== null && 'task_id' in n.data ? n.data.task_id : undefined;
  return {
    id: n.id,
    type: isInterrupt(n)
      ? 'interrupt'
      : n.origin?.person === undefined && n.kind.source !== 'user'
        ? formatKind(n.kind)
        : 'message',
    action: n.action ?? null,
    level: n.level,
    // What was counted into it and said something else is said too, a line each.
    message: [...new Set([n.message, ...differs.flatMap(({ message }) => message ?? [])])].join('\n'),
    instruction: n.instruction ?? null,
    created_at: new Date(at).toISOString(),
    ...(typeof taskId === 'string' ? { task_id: taskId } : {}),
    ...(count > 1 ? { count } : {}),
    ...(n.origin?.person === undefined ? {} : { from: n.origin.person }),
  };
}
