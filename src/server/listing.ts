/** Lists notifications of one agent or across agents, newest first, page by page. The work for one page is limited. */
import type { LogKey } from '../core/address.ts';
import { defined } from '../core/defined.ts';
import type { NotificationView, Page } from '../wire/api.ts';
import type { Item } from '../core/items.ts';
import { formatKind } from '../core/notification.ts';
import { isType, notificationOf } from '../core/records.ts';
import type { Inbox } from '../inbox/index.ts';
import { Chunks, PageBytes } from './page-bytes.ts';
import { ProblemError } from './problems.ts';
import { notificationView } from './shown.ts';

export async function logsOf(inbox: Inbox, project: string | undefined): Promise<readonly LogKey[]> {
  const found = await inbox.store.agents({ ...defined({ project }), limit: MAX_LOGS + 1 });
  if (found.length > MAX_LOGS)
    throw new ProblemError('bad_argument', `there are more than ${MAX_LOGS} agents; name an agent, or a project`, {
      field: 'log',
    });
  return found.map(({ log }) => log);
}
const MAX_LOGS = 1_000;

type ListQuery = {
  readonly before: number;
  readonly limit: number;
  readonly state: 'open' | 'closed' | 'all';
  readonly wants: (item: Item) => boolean;
};

/** Returns the text in which a filter searches for words. */
export function wordsOf({ notification }: Item): string {
  const { kind, message, instruction = '', data, origin } = notification;
  const more = data === undefined ? '' : JSON.stringify(data);
  return [message, instruction, formatKind(kind), origin?.person, origin?.agent, more].join('\n');
}

/** When a page of a filtered list has read this many items, the page ends. The last chunk may exceed the number. */
const MAX_LOOKED_AT = 2_000;

export async function listOf(inbox: Inbox, log: LogKey, query: ListQuery): Promise<Page<NotificationView>> {
  const { limit, state, wants } = query;
  const items: NotificationView[] = [];
  const room = new PageBytes();
  const chunks = new Chunks(200);
  let { before } = query;
  for (let looked = 0; looked < MAX_LOOKED_AT;) {
    const chunk = chunks.next();
    looked += chunk;
    // Among the closed items, the list also shows expired items that are still open in the store.
    const page = await inbox.store.items(log, { kind: 'latest', limit: chunk, before, ...(state === 'open' ? { state } : {}) });
    // The last notification may have more items for other audiences, so all its items are read.
    const last = page.at(-1);
    const whole =
      page.length < chunk || last === undefined
        ? page
        : [...page.filter(({ seq }) => seq !== last.seq), ...(await inbox.store.items(log, { kind: 'ids', ids: [last.id] }))];
    for (const [seq, group] of Map.groupBy(whole, (item) => item.seq)) {
      const wanted = group.filter((item) => wants(item)).map((item) => notificationView(log, item, inbox.store.now()));
      if (wanted.length > 0 && ((items.length > 0 && items.length + wanted.length > limit) || !room.take(wanted)))
        return { items, next: String(before) };
      for (const view of wanted) items.push(view);
      before = seq;
    }
    if (page.length < chunk) return { items, next: null };
  }
  return { items, next: String(before) };
}

/** The maximum number of positions of the store that are read for one page across agents. */
const MAX_POSITIONS = 20_000;

export async function listAcross(inbox: Inbox, project: string | undefined, query: ListQuery): Promise<Page<NotificationView>> {
  const { limit, wants } = query;
  const head = await inbox.store.head();
  const floor = Math.max(0, Math.min(query.before - 1, head) - MAX_POSITIONS);
  let upTo = Math.min(query.before - 1, head);
  const found: NotificationView[] = [];
  const room = new PageBytes();
  const chunks = new Chunks(100);
  while (upTo > floor) {
    const chunk = chunks.next();
    const page = await inbox.store.read({
      ...defined({ project }),
      types: ['system_notification_queued'],
      after: floor,
      upTo,
      newestFirst: true,
      limit: chunk,
    });
    for (const { seq, log, body } of page) {
      if (!isType(body, 'system_notification_queued')) continue;
      const items = (await inbox.store.items(log, { kind: 'ids', ids: [notificationOf(body).id] }))
        .filter((item) => wants(item))
        .map((item) => notificationView(log, item, inbox.store.now()));
      if (items.length > 0 && ((found.length > 0 && found.length + items.length > limit) || !room.take(items)))
        return { items: found, next: String(seq + 1) };
      for (const view of items) found.push(view);
      upTo = seq - 1;
    }
    if (page.length < chunk) break;
  }
  return { items: found, next: floor > 0 ? String(floor + 1) : null };
}
