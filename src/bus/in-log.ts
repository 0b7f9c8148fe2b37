/**
 * Reads and recounts the notifications of one subscriber for one address in the log. Also withdraws notifications by key. Any
 * process may have queued these notifications.
 */
import { logOf, splitLog, type Address, type LogKey } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import { ANYONE, type Item } from '../core/items.ts';
import type { NotificationId } from '../core/notification.ts';
import { fromRecord, isType, queuedRecord, type Draft } from '../core/records.ts';
import type { Inbox } from '../inbox/index.ts';
import { countedKeys } from '../core/unlisted.ts';
import { countedIn, dataOf, stillCounted, withoutEnded, type Counted } from './storm.ts';
import type { Logged } from './recent-details.ts';

/** The number of notifications in a page, and the maximum number of pages that `lately` reads. */
const PAGE = 100;
const PAGES = 10;
/** The maximum number of attempts to change a count. An attempt fails if another process changes the count at the same time. */
const TRIES = 20;

/**
 * The maximum number of newest unread notifications in which a withdrawal looks for notifications that a summary has counted.
 * Each event of a burst repeats this search, for example when a thousand files are restored, so the number is small.
 */
const SEARCHED_PER_EVENT = 100;

export class InLog {
  readonly #inbox: Inbox;
  readonly #subscriber: string;
  readonly #address: Address;

  constructor(inbox: Inbox, subscriber: string, address: Address) {
    this.#inbox = inbox;
    this.#subscriber = subscriber;
    this.#address = address;
  }

  /**
   * Withdraws the notifications of the key that are open or were only counted in a summary, and returns their ids. An event for
   * one conversation withdraws only the notifications of that conversation.
   */
  async withdraw(key: string, reason: string): Promise<readonly string[]> {
    const address = this.#address;
    const why = { by: this.#subscriber, reason };
    const ids = new Set<string>();
    for (const log of await this.#logs()) {
      const pending = await this.#inbox.pending(log, key, SEARCHED_PER_EVENT);
      const mine = pending.filter((item) => address.kind !== 'conversation' || item.audience === address.conversation);
      for (const id of new Set(mine.map((item) => item.id)))
        for (const { result } of await this.#inbox.withdraw(log, { id }, why))
          if (result === 'withdrawn' || result === 'maybe_seen') ids.add(id);
    }
    return [...ids];
  }

  /**
   * Reads the counts in the open notifications of all processes under `restKey` that were never offered. If several notifications
   * count a key, the highest count is used.
   */
  async counted(restKey: string): Promise<Counted> {
    const most = new Map<string, number>();
    for (const log of await this.#logs())
      for (const item of await this.#rests(log, restKey))
        for (const [name, count] of countedIn(item)) most.set(name, Math.max(count, most.get(name) ?? 0));
    return most;
  }

  /**
   * Subtracts ended events from the counts. Each affected notification is closed and, unless its count is now 0, queued again in
   * one step. So no notification is lost or delivered twice.
   */
  async recount(restKey: string, over: Counted): Promise<void> {
    for (const log of await this.#logs())
      for (let tries = 0; tries < TRIES; tries++) {
        const results = [];
        for (const item of await this.#rests(log, restKey)) {
          const drafts = this.#without(item, over);
          if (drafts.length > 0) results.push(await this.#inbox.store.append(log, drafts));
        }
        // If another process changed a notification first, or a carrier took it, the current state is read again.
        if (results.every(({ kind }) => kind === 'appended')) break;
      }
  }

  #without(item: Item, over: Counted): readonly Draft[] {
    const { left, subtracted } = withoutEnded(countedIn(item), over);
    if (subtracted === 0) return [];
    const to = item.audience === ANYONE ? {} : { conversation: item.audience };
    const count = item.count - subtracted;
    const reason = `${subtracted} of the counted events have ended`;
    const closed: Draft = {
      type: 'notification_closed',
      ...to,
      ids: [item.id],
      counts: [item.count],
      outcome: 'withdrawn',
      by: this.#subscriber,
      reason,
    };
    if (count <= 0) return [closed];
    const id = this.#inbox.ids.make('n') as NotificationId;
    const { notification, at, differs } = item;
    const named = [notification, ...differs].flatMap(({ data }) => countedKeys(data));
    const data = dataOf(left, id, stillCounted([...new Set(named)], left, this.#subscriber));
    return [closed, queuedRecord({ ...notification, id, count, firstAt: notification.firstAt ?? at, data }, to)];
  }

  /** Reads the open notifications under `restKey` that were never offered. */
  async #rests(log: LogKey, restKey: string): Promise<readonly Item[]> {
    const address = this.#address;
    const open = await this.#inbox.store.items(log, { kind: 'key', key: restKey });
    return open.filter(
      (item) =>
        item.state === 'open' &&
        item.offers === 0 &&
        item.notification.subscriber?.rest &&
        (address.kind !== 'conversation' || item.audience === address.conversation),
    );
  }

  /** Reads the open notifications. A notification for several conversations is returned once. */
  async open(): Promise<readonly Item[]> {
    const found = new Map<string, Item>();
    for (const log of await this.#logs())
      for (const item of await this.#inbox.store.items(log, { kind: 'open' })) if (this.#isIts(item)) found.set(item.id, item);
    return [...found.values()];
  }

  /**
   * Returns the id of the key's newest open notification, if that notification was never offered and waits for no time, tool or
   * number of turns. Always undefined for a whole project, because its agents may have read different notifications.
   */
  async undelivered(key: string): Promise<string | undefined> {
    if (this.#address.kind === 'project') return undefined;
    const open = await this.#inbox.store.items(logOf(this.#address), { kind: 'key', key });
    const newest = open.findLast((item) => this.#isIts(item));
    const isUntold = newest?.state === 'open' && newest.offers === 0 && typeof newest.notification.deliver !== 'object';
    return isUntold ? newest.id : undefined;
  }

  /** Reads the notifications that were queued at or after `since` (epoch ms), newest first, from at most `PAGES` pages. */
  async lately(since: number): Promise<readonly Logged[]> {
    const address = this.#address;
    if (address.kind === 'project') return this.#fannedOut(since);
    const found: Item[] = [];
    let before = Number.MAX_SAFE_INTEGER;
    for (let page = 0; page < PAGES; page++) {
      const items = await this.#inbox.store.items(logOf(address), { kind: 'latest', limit: PAGE, before });
      const late = items.filter((item) => item.at >= since);
      found.push(...late.filter((item) => this.#isIts(item)));
      if (late.length < PAGE) break;
      before = late.at(-1)?.seq ?? 0;
    }
    return found;
  }

  /** Reads the notifications to all agents of the project, from the project's own log. */
  async #fannedOut(since: number): Promise<readonly Logged[]> {
    const records = await this.#inbox.store.read({
      log: logOf(this.#address),
      types: ['fan_out'],
      newestFirst: true,
      limit: PAGE,
    });
    return records.flatMap(({ body, at, clock }) => {
      if (at < since || !isType(body, 'fan_out')) return [];
      const notification = fromRecord(body.notification);
      return notification.subscriber?.id === this.#subscriber
        ? [{ notification, at, ...defined({ clock }), lastAt: at, differs: [] }]
        : [];
    });
  }

  async #logs(): Promise<readonly LogKey[]> {
    if (this.#address.kind !== 'project') return [logOf(this.#address)];
    const all = await this.#inbox.store.overview(this.#address.project);
    return all.flatMap(({ log, open }) => {
      const some = open.info + open.warning + open.error + open.critical > 0;
      return some && splitLog(log).agent !== '*' ? [log] : [];
    });
  }

  #isIts({ notification, audience }: Item): boolean {
    const address = this.#address;
    if (notification.subscriber?.id !== this.#subscriber) return false;
    if (address.kind === 'project') return audience !== ANYONE;
    return audience === (address.kind === 'conversation' ? address.conversation : ANYONE);
  }
}
