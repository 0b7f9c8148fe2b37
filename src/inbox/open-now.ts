/**
 * Subtracts expired notifications from the counts of an agent's overview. A store counts an expired item as open until a sweep.
 */
import type { LogKey } from '../core/address.ts';
import { endOf } from '../core/clocks.ts';
import { LEVELS } from '../core/notification.ts';
import type { AgentOverview } from '../core/ports.ts';
import type { Context } from './context.ts';

/** The maximum number of items that are loaded for one agent. Further items count as open until a sweep. */
const MAX_ITEMS = 1_000;
/** How long the loaded items of an agent are used while its counts do not change, in ms. */
const KEPT_MS = 60_000;
const MAX_LOOKS = 10_000;

type Look = {
  /** The counts of the store when the items were loaded. */
  readonly counts: string;
  /** When the next loaded item expires, or when the items must be loaded again. */
  readonly until: number;
  readonly expired: AgentOverview['open'];
  /** The time of the oldest item that has not expired. */
  readonly oldest: number | undefined;
};

/**
 * Corrects overviews, and caches the loaded items of each agent. If a program polls a list, an agent's items are loaded again
 * only after a change, after an expiry, and once a minute.
 */
export class OpenNow {
  readonly #store: Context['store'];
  readonly #looks = new Map<LogKey, Look>();

  constructor({ store }: Pick<Context, 'store'>) {
    this.#store = store;
  }

  readonly of = async (overview: AgentOverview): Promise<AgentOverview> => {
    const { log, open, oldestOpenAt, ...rest } = overview;
    if (LEVELS.every((level) => open[level] === 0)) {
      this.#looks.delete(log);
      return overview;
    }
    const { expired, oldest } = await this.#look(log, JSON.stringify([open, oldestOpenAt]));
    if (LEVELS.every((level) => expired[level] === 0)) return overview;
    const left = { ...open };
    for (const level of LEVELS) left[level] = Math.max(0, open[level] - expired[level]);
    return { ...rest, log, open: left, ...(oldest === undefined ? {} : { oldestOpenAt: oldest }) };
  };

  async #look(log: LogKey, counts: string): Promise<Look> {
    const now = this.#store.now();
    const before = this.#looks.get(log);
    if (before?.counts === counts && now < before.until && now >= before.until - KEPT_MS) return before;
    let until = now + KEPT_MS;
    let oldest: number | undefined;
    const expired = { info: 0, warning: 0, error: 0, critical: 0 };
    for (const item of await this.#store.items(log, { kind: 'open', limit: MAX_ITEMS })) {
      const end = endOf(item, now);
      if (end !== undefined && end <= now && item.state === 'open') expired[item.notification.level ?? 'info']++;
      else {
        oldest ??= item.at;
        if (end !== undefined && end > now) until = Math.min(until, end);
      }
    }
    if (this.#looks.size >= MAX_LOOKS) this.#looks.clear();
    const look = { counts, until, expired, oldest };
    this.#looks.set(log, look);
    return look;
  }
}
