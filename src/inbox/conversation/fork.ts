/**
 * A fork is a conversation that begins as a copy of another conversation, up to a record. The log contains the shared records
 * only once. `transcriptOf` reads the stretches of a transcript in order.
 */
import type { ConversationId, LogKey } from '../../core/address.ts';
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import { ANYONE, replay, type Item } from '../../core/items.ts';
import type { NotificationId } from '../../core/notification.ts';
import type { Store } from '../../core/ports.ts';
import type { ForkedRecord, Stored } from '../../core/records.ts';

/**
 * The part of a transcript that one conversation of its lineage wrote. `upTo` is inclusive. The last stretch has no `upTo`,
 * because it still grows.
 */
export type Stretch = { readonly conversation: ConversationId; readonly upTo?: number };

export type Forked = {
  readonly conversation: ConversationId;
  readonly from: ConversationId;
  readonly upTo: number;
  /** The notifications of which the fork got its own open copy. */
  readonly ids: readonly NotificationId[];
};

export type TranscriptQuery = {
  readonly types?: readonly string[];
  /** Only records after this position (exclusive). */
  readonly after?: number;
  readonly newestFirst?: boolean;
};

type Origin = { readonly from: ConversationId; readonly upTo: number };

const PAGE = 1_000;

/** Names the setting that says where a fork began (conversation and position), so that readers need not search the log. */
const settingOf = (log: LogKey, conversation: ConversationId): string => `fork ${log}#${conversation}`;

const originOf = async (store: Store, log: LogKey, conversation: ConversationId): Promise<Origin | undefined> =>
  (await store.setting(settingOf(log, conversation))) as Origin | undefined;

/** Returns the stretches of a conversation's transcript, oldest first. The last stretch is the conversation itself. */
export async function lineageOf(store: Store, log: LogKey, conversation: ConversationId): Promise<readonly Stretch[]> {
  const stretches: Stretch[] = [{ conversation }];
  for (let origin = await originOf(store, log, conversation); origin !== undefined;) {
    stretches.unshift({ conversation: origin.from, upTo: origin.upTo });
    origin = await originOf(store, log, origin.from);
  }
  return stretches;
}

/** Whether a record belongs to one of the stretches. */
export const isIn = (stretches: readonly Stretch[], { seq, body }: Pick<Stored, 'seq' | 'body'>): boolean =>
  stretches.some(({ conversation, upTo = Number.POSITIVE_INFINITY }) => body.conversation === conversation && seq <= upTo);

/**
 * Yields the transcript of a conversation, including the records that it shares with the conversations of its lineage. The oldest
 * record comes first, or with `newestFirst` the newest.
 */
export async function* transcriptOf(
  store: Store,
  log: LogKey,
  conversation: ConversationId,
  query: TranscriptQuery = {},
): AsyncGenerator<Stored, void, undefined> {
  const { types, newestFirst = false } = query;
  const stretches = await lineageOf(store, log, conversation);
  for (const stretch of newestFirst ? stretches.toReversed() : stretches) {
    let { after = 0 } = query;
    let { upTo = Number.MAX_SAFE_INTEGER } = stretch;
    while (after < upTo) {
      const page = await store.read({
        log,
        conversation: stretch.conversation,
        after,
        upTo,
        limit: PAGE,
        newestFirst,
        ...defined({ types }),
      });
      yield* page;
      if (page.length < PAGE) break;
      if (newestFirst) upTo = (page.at(-1)?.seq ?? 1) - 1;
      else after = page.at(-1)?.seq ?? after;
    }
  }
}

/**
 * Begins `to` as a copy of `from` at `upTo` (default: now). Notifications that were open in `from` at that point are open in
 * `to`, with the same ids. Two kinds are not copied: notifications that have since ended with an outcome in `OVER`, and
 * notifications that a third conversation has taken. Throws `not_found` if `from` has no records up to that point, and
 * `bad_argument` if `to` already has records.
 */
export async function fork(
  store: Store,
  log: LogKey,
  from: ConversationId,
  { to, upTo: wanted }: { readonly to: ConversationId; readonly upTo?: number },
): Promise<Forked> {
  const head = await store.head();
  const { from: parent, upTo } = await placeOf(store, log, from, Math.min(wanted ?? head, head));
  if (!(await hasRecords(store, log, parent, upTo)))
    throw new EarpieceError(
      'not_found',
      `${log}#${from} has no records${wanted === undefined ? '' : ` up to ${wanted}`}; name a conversation and a position with records`,
    );
  const taken = new EarpieceError('bad_argument', `${log}#${to} exists; choose another name for the fork`);
  if (await hasRecords(store, log, to, head)) throw taken;
  const ids = upTo === head ? await openNow(store, log, parent, upTo) : await openAt(store, log, parent, upTo);
  const record: ForkedRecord = { type: 'conversation_forked', conversation: to, from: parent, upTo, ids };
  const swap = { key: settingOf(log, to), from: undefined, to: { from: parent, upTo } };
  const appended = await store.append(log, [record], { swaps: [swap] });
  if (appended.kind === 'stale') throw taken;
  if (appended.kind !== 'appended')
    throw new TypeError(`a fork names notifications that the log does not have (${appended.kind})`);
  const [origin] = await store.presence({ log, conversation: parent });
  const told = (await anyView(store, log, to))
    ? { told: true as const, ...(origin?.mark === undefined ? {} : { mark: origin.mark }) }
    : {};
  const { host, hostVersion, purpose } = origin ?? {};
  await store.touch({
    log,
    conversation: to,
    ended: true,
    ...told,
    ...defined({ host, hostVersion, purpose }),
  });
  return { conversation: to, from: parent, upTo, ids };
}

/**
 * Finds the conversation of a lineage that contains the position `upTo`. A position before a fork's own first record belongs to
 * the fork's origin.
 */
async function placeOf(store: Store, log: LogKey, conversation: ConversationId, upTo: number): Promise<Origin> {
  if (await hasRecords(store, log, conversation, upTo)) return { from: conversation, upTo };
  const origin = await originOf(store, log, conversation);
  if (origin === undefined) return { from: conversation, upTo };
  return placeOf(store, log, origin.from, Math.min(upTo, origin.upTo));
}

const hasRecords = async (store: Store, log: LogKey, conversation: ConversationId, upTo: number): Promise<boolean> =>
  (await store.read({ log, conversation, upTo, limit: 1 })).length > 0;

async function openNow(
  store: Store,
  log: LogKey,
  conversation: ConversationId,
  upTo: number,
): Promise<readonly NotificationId[]> {
  const items = await store.items(log, { kind: 'open', conversation });
  // An item for ANYONE is open for the fork without a copy.
  return items.filter((item) => item.audience === conversation && item.seq <= upTo).map(({ id }) => id);
}

/** The outcomes whose reason also applies to a fork: the fork gets no copy of such a notification. */
const OVER: ReadonlySet<Item['outcome']> = new Set(['withdrawn', 'expired', 'superseded', 'filtered', 'dropped', 'folded']);

async function openAt(store: Store, log: LogKey, conversation: ConversationId, upTo: number): Promise<readonly NotificationId[]> {
  const records: Stored[] = [];
  for (let after = 0; ;) {
    const page = await store.read({ log, after, upTo, limit: PAGE });
    for (const record of page) records.push(record);
    if (page.length < PAGE) break;
    after = page.at(-1)?.seq ?? after;
  }
  const open = [...replay(records).values()].filter(
    (item) => item.state !== 'closed' && (item.audience === conversation || item.audience === ANYONE),
  );
  const found = await store.items(log, { kind: 'ids', ids: open.map(({ id }) => id) });
  const now = new Map(found.map((item) => [`${item.id} ${item.audience}`, item]));
  return open
    .filter(({ id, audience }) => {
      const item = now.get(`${id} ${audience}`);
      if (item === undefined || OVER.has(item.outcome)) return false;
      return audience === conversation || (item.state === 'closed' && item.takenBy === conversation);
    })
    .map(({ id }) => id);
}

async function anyView(store: Store, log: LogKey, conversation: ConversationId): Promise<boolean> {
  for await (const { body } of transcriptOf(store, log, conversation, { types: CARRIERS }))
    if ('view' in body && body.view !== undefined) return true;
  return false;
}

const CARRIERS = ['chat_request', 'tool_call_response', 'carrier_offered'];
