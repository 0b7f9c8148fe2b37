import type { LogKey } from '../../core/address.ts';
import { isKept } from '../../core/filter.ts';
import { formatKind, levelRank, type Level, type NotificationId } from '../../core/notification.ts';
import type { Policy } from '../../core/policy.ts';
import type { Ids, Store } from '../../core/ports.ts';
import { queuedRecord } from '../../core/records.ts';

/** The share of the room below the limit that a process may fill before it counts the open notifications again. */
const SHARE = 1 / 4;
/** The minimum of that share, in notifications. If less room is left, the share is the whole room. */
const RECOUNT = 64;
const SUMMARY_KEY = 'earpiece.dropped';

type LimitDeps = { readonly store: Store; readonly ids: Ids };

/**
 * Enforces `maxOpen`. Beyond this limit, the oldest notifications of the lowest level close as dropped, and one summary gives
 * their number by kind and level. A notification that cannot be filtered is never dropped. The limit is not checked each time a
 * notification is queued. If several processes queue at the same time, a log may exceed the limit for a moment. The excess is
 * at most a quarter of the limit for each further process.
 */
export class OpenLimit {
  readonly #deps: LimitDeps;
  /** For each log, how many notifications this process may still queue before the next count, under a limit of `maxOpen`. */
  readonly #until = new Map<LogKey, { left: number; readonly maxOpen: number }>();

  constructor(deps: LimitDeps) {
    this.#deps = deps;
  }

  async queued(log: LogKey, policy: Policy): Promise<void> {
    const until = this.#until.get(log);
    if (until?.maxOpen === policy.maxOpen && --until.left > 0) return;
    const open = await this.#deps.store.countOpen(log);
    if (open > policy.maxOpen) await this.#drop(log, open - policy.maxOpen, policy);
    this.#until.set(log, { left: shareOf(policy.maxOpen - open), maxOpen: policy.maxOpen });
  }

  async #drop(log: LogKey, tooMany: number, policy: Policy): Promise<void> {
    const { store, ids } = this.#deps;
    const open = (await store.items(log, { kind: 'open' })).filter((item) => item.state === 'open');
    const summaries = open.filter((item) => item.notification.key === SUMMARY_KEY);
    const candidates = open
      .filter(({ notification }) => notification.key !== SUMMARY_KEY && !isKept(notification, policy))
      .toSorted((a, b) => levelRank(a.notification.level) - levelRank(b.notification.level) || a.seq - b.seq);
    const dropped = candidates.slice(0, tooMany + 1);
    if (dropped.length === 0) return;

    const counts = new Map<string, number>();
    for (const { notification } of summaries)
      for (const [kind, n] of Object.entries((notification.data ?? {}) as Record<string, number>))
        counts.set(kind, (counts.get(kind) ?? 0) + n);
    for (const item of dropped) {
      const kind = `${formatKind(item.notification.kind)} ${item.notification.level}`;
      counts.set(kind, (counts.get(kind) ?? 0) + item.count);
    }
    const total = [...counts.values()].reduce((sum, n) => sum + n, 0);
    // The summary of dropped errors is itself an error. No budget summarizes an error, so the agent always reads this summary.
    const isHigh = (kind: string): boolean => levelRank(kind.slice(kind.lastIndexOf(' ') + 1) as Level) >= levelRank('error');
    const level = [...counts.keys()].some(isHigh) ? 'error' : 'warning';
    const what = [...counts].map(([kind, n]) => `${n} ${kind.replace(' ', ' (')})`).join(', ');
    // If a carrier has taken one of these items since, this append drops no item. The next count checks the limit again.
    await store.append(log, [
      {
        type: 'notification_closed',
        ids: [...new Set(dropped.map((item) => item.id))],
        outcome: 'dropped',
        by: 'max_open',
        reason: `more than ${policy.maxOpen} notifications were open`,
      },
      ...(summaries.length > 0
        ? [
            {
              type: 'notification_closed' as const,
              ids: summaries.map((s) => s.id),
              outcome: 'superseded' as const,
              by: 'max_open',
              reason: 'counted into a newer summary',
            },
          ]
        : []),
      queuedRecord(
        {
          id: ids.make('n') as NotificationId,
          kind: { source: 'earpiece', name: 'dropped' },
          level,
          message: `${total} notifications were dropped because too many were waiting: ${what}`,
          data: Object.fromEntries(counts),
          key: SUMMARY_KEY,
          supersede: true,
          expiresAt: null,
        },
        {},
      ),
    ]);
  }
}

const shareOf = (room: number): number => Math.max(1, Math.min(RECOUNT, room + 1), Math.floor(room * SHARE));
