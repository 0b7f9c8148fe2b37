/**
 * Lists waiting notifications of some logs, newest first, a page at a time, because a log may contain hundreds of thousands of
 * notifications.
 */
import type { ConversationId, LogKey } from '../core/address.ts';
import { asListed, holdsGate } from '../core/clocks.ts';
import { isOnlyCounted, type Item } from '../core/items.ts';
import type { Store } from '../core/ports.ts';
import { replacedSince } from '../inbox/index.ts';
import type { Waiting } from './waiting.ts';

const PAGE = 500;

/**
 * Yields open notifications and notifications that an agent got only as a count in a summary, if they have not expired. Omits a
 * counted notification if a carrier has since shown a newer state. Also yields delivered interrupts that still keep a gate up:
 * unread interrupts, and pauses even if they were read.
 */
export async function* waitingIn(
  store: Store,
  logs: readonly LogKey[],
  only: { readonly conversation?: ConversationId },
): AsyncIterable<Waiting> {
  const heads = await Promise.all(
    logs.map(async (log) => head(log, [openIn(store, log, only), toldIn(store, log, only), pausesIn(store, log, only)])),
  );
  const all = heads.flat();
  for (;;) {
    let newest: Head | undefined;
    for (const each of all) if (each.item !== undefined && each.item.seq > (newest?.item?.seq ?? 0)) newest = each;
    if (newest?.item === undefined) return;
    yield { log: newest.log, item: newest.item };
    newest.item = await next(newest.rest);
  }
}

type Head = { readonly log: LogKey; readonly rest: AsyncIterator<Item>; item: Item | undefined };

const head = (log: LogKey, from: readonly AsyncIterable<Item>[]): Promise<Head[]> =>
  Promise.all(
    from.map(async (all) => {
      const rest = all[Symbol.asyncIterator]();
      return { log, rest, item: await next(rest) };
    }),
  );

async function next(rest: AsyncIterator<Item>): Promise<Item | undefined> {
  const step = await rest.next();
  return step.done === true ? undefined : step.value;
}

type Only = { readonly conversation?: ConversationId };

async function* openIn(store: Store, log: LogKey, { conversation }: Only): AsyncIterable<Item> {
  const all = inPages((limit, before) => store.items(log, { kind: 'latest', state: 'open', limit, before }));
  for await (const item of all)
    if (
      asListed(item, store.now()).state !== 'closed' &&
      (conversation === undefined || item.audience === '' || item.audience === conversation)
    )
      yield item;
}

async function* toldIn(store: Store, log: LogKey, only: Only): AsyncIterable<Item> {
  const replaced = new Set<Item>();
  const page = async (limit: number, before: number): Promise<readonly Item[]> => {
    const items = await store.items(log, { kind: 'unread', limit, before, ...only });
    for (const item of await replacedSince(store, log, items.filter(isOnlyCounted))) replaced.add(item);
    return items;
  };
  for await (const item of inPages(page))
    if (isOnlyCounted(asListed(item, store.now())) ? !replaced.has(item) : holdsGate(item, store.now())) yield item;
}

async function* pausesIn(store: Store, log: LogKey, only: Only): AsyncIterable<Item> {
  const found = await store.items(log, { kind: 'gate', read: true, ...only });
  yield* found.filter((item) => holdsGate(item, store.now())).toReversed();
}

/** Yields items newest first, a page at a time, each once. */
async function* inPages(read: (limit: number, before: number) => Promise<readonly Item[]>): AsyncIterable<Item> {
  for (let before = Number.MAX_SAFE_INTEGER, limit = PAGE; ;) {
    const page = await read(limit, before);
    const last = page.at(-1)?.seq ?? 0;
    // Several items may have the same position. The items with the last position wait for the next page, because the page may end
    // between them.
    const whole = page.length < limit ? page : page.filter(({ seq }) => seq !== last);
    yield* whole;
    if (page.length < limit) return;
    if (whole.length === 0) limit *= 2;
    else before = last + 1;
  }
}
