/**
 * Checks the rules for a log after any number of kills. The checker counts closings itself, record by record, so it finds both
 * a wrong `settle` and a wrong index.
 */
import type { LogKey } from '../../../src/core/address.ts';
import { ANYONE, NEVER_SENT, type Item } from '../../../src/core/items.ts';
import { isType, type Draft, type Owner, type Stored } from '../../../src/core/records.ts';
import type { Store } from '../../../src/core/ports.ts';
import { judgeEndings, judgeReading, judgeShown } from './journal.ts';
import { LOGS, STANDING, type Told } from './roles.ts';

export type Counts = {
  acknowledged: number;
  /** Notifications in the frames and transcripts that the workers have shown. */
  shown: number;
  /** Notifications that the store or Earpiece's transcript lacks, that have expired, or that were withdrawn without a request. */
  lost: number;
  /**
   * Notifications that were closed more than once, delivered more than once in Earpiece's own transcript, or shown although a
   * withdrawal succeeded.
   */
  twice: number;
  /** Offers of notifications that were offered before. */
  reoffered: number;
  /** Notifications that a frame showed again without marking them as repeated. */
  unflagged: number;
  /** Notifications that are still not delivered after the drain. */
  stuck: number;
  /** Records that the reader missed, or read twice or in the wrong order. */
  unread: number;
  /** Calls that were refused for a temporary reason: the store was out of reach or full, or there was a conflict. */
  refused: number;
};
export const NOTHING: Counts = {
  acknowledged: 0,
  shown: 0,
  lost: 0,
  twice: 0,
  reoffered: 0,
  unflagged: 0,
  stuck: 0,
  unread: 0,
  refused: 0,
};

/** The lines of all workers, and `from`, the position after which the reader began. */
type Journal = { readonly told: readonly Told[]; readonly from: number };

export async function check(
  store: Store,
  { told, from }: Journal,
  isAlive: (owner: Owner) => boolean | undefined,
): Promise<{ counts: Counts; problems: string[] }> {
  const problems = [...(await store.verify())];
  const counts: Counts = { ...NOTHING };
  const problem = (kind: keyof Counts, text: string): void => {
    counts[kind]++;
    problems.push(text);
  };

  const items = new Map<string, Item>();
  for (const log of Object.values(LOGS))
    for (const item of await store.items(log as LogKey, { kind: 'latest', limit: 1_000_000 }))
      items.set(keyOf(log, item.id, item.audience), item);
  const standing = new Set((await store.items(STANDING as LogKey, { kind: 'open' })).map(({ id }) => id as string));
  const records = await store.read({ limit: 10_000_000 });

  for (const line of told) {
    if (line.kind === 'problem') problems.push(line.text);
    if (line.kind === 'refused') counts.refused++;
    if (line.kind === 'bytes' || line.kind === 'carried') counts.shown += line.ids.length;
    if (line.kind !== 'queued') continue;
    counts.acknowledged++;
    for (const address of line.to) {
      const [log = '', conversation = ''] = address.split('#');
      // An interrupt of the whole project stays for later conversations: nothing removes it.
      if (log === STANDING && standing.has(line.id)) continue;
      const item = items.get(keyOf(log, line.id, conversation)) ?? items.get(keyOf(log, line.id, ANYONE));
      if (item === undefined) problem('lost', `${line.id} to ${address} was acknowledged and is lost`);
    }
  }

  for (const [key, item] of items) {
    if (item.state === 'closed') continue;
    const held = item.state === 'offered' && item.owner !== undefined && isAlive(item.owner) === false;
    problem(
      'stuck',
      `${key.replaceAll('\n', ' ')} is ${item.state} after the drain${held ? `: the lease of a dead process was never released` : ''}`,
    );
  }

  const keysOf = keysIn(items);
  const { closings, own } = closingsOf(records, keysOf);
  judgeEndings(told, records, problem);
  judgeShown(told, problem);
  judgeReading(told, { records, from }, problem);
  for (const [key, item] of items) {
    const of = closings.get(key) ?? [];
    const name = key.replaceAll('\n', ' ');
    if (of.length > 1) problem('twice', `${name} was closed ${of.length} times (${of.join(', ')})`);
    if (of.length === 0 && item.state === 'closed') problems.push(`${name} is closed and no record closes it`);
    if (of.length > 0 && item.state !== 'closed') problems.push(`${name} is ${item.state} and was closed by ${of.join(', ')}`);
    const times = own.get(key) ?? 0;
    if (times > 1) problem('twice', `${name} was delivered ${times} times in Earpiece's own transcript`);
  }

  const carriers = new Set<string>();
  const carried = new Set<string>();
  const texts = new Map<string, Line>();
  /** The position of the last offer of each item. */
  const offeredAt = new Map<string, number>();
  /** Carriers that were never sent, or that the client cancelled. */
  const unsent = new Set<string>();
  for (const { seq, log, body } of records) {
    if (isType(body, 'carrier_released') && (NEVER_SENT.has(body.reason) || body.reason === 'cancelled'))
      unsent.add(body.carrier);
    if (isType(body, 'tool_call_response')) for (const { id } of body.notifications ?? []) carried.add(id);
    if (!isType(body, 'carrier_offered')) continue;
    carriers.add(body.carrier);
    const keys = (id: string): readonly string[] => keysOf(log, id, body.conversation);
    // An answer of `get_notifications` has no frame, so the check of the frame's `repeated` does not apply.
    if (body.on === 'get_notifications') {
      for (const key of body.ids.flatMap(keys)) offeredAt.set(key, seq);
      continue;
    }
    const again = body.ids.filter((id) => keys(id).some((key) => texts.has(key)));
    counts.reoffered += again.length;
    if (again.length > 0 && body.at_point !== 'forced' && !body.view.repeated)
      problem('unflagged', `${body.carrier} offers ${again.join(', ')} again and is not flagged as repeated`);
    for (const { ids, text } of body.view.items) {
      const line: Line = { text, keys: ids.flatMap(keys), seq, carrier: body.carrier };
      // If some items of a line are closed or are in another carrier, the line gets a new text for the other items. Items that
      // another carrier has offered since, such as an answer of `get_notifications`, get a separate line.
      const isLeftOf = (first: Line): boolean =>
        line.keys.length < first.keys.length &&
        line.keys.every((key) => first.keys.includes(key)) &&
        first.keys.every(
          (key) =>
            // If the first line was not sent, its newer notifications may wait for a later offer.
            unsent.has(first.carrier) ||
            line.keys.includes(key) ||
            line.keys.every((own) => (offeredAt.get(own) ?? 0) > first.seq) ||
            (offeredAt.get(key) ?? 0) > first.seq ||
            (closings.get(key) ?? []).some((closing) => Number(closing.split(' ').at(-1)) < seq),
        );
      for (const key of line.keys) {
        const first = texts.get(key) ?? line;
        if (first.text === text) texts.set(key, { ...first, seq, carrier: body.carrier });
        else if (isLeftOf(first)) texts.set(key, line);
        else
          problems.push(
            `${key.replaceAll('\n', ' ')} was first offered as ${JSON.stringify(first.text)}, then as ${JSON.stringify(text)}`,
          );
      }
      for (const key of line.keys) offeredAt.set(key, seq);
    }
  }
  for (const line of told) {
    if (line.kind === 'bytes' && !carriers.has(line.carrier)) problems.push(`${line.carrier} went out and no record offers it`);
    if (line.kind !== 'carried') continue;
    for (const id of line.ids)
      if (!carried.has(id)) problem('lost', `${id} was carried in our own transcript, which does not have it`);
  }
  return { counts, problems };
}

/** A line of an offer: its text, its items, and the record and the carrier that offered it last. */
type Line = { readonly text: string; readonly keys: readonly string[]; readonly seq: number; readonly carrier: string };

type KeysOf = (log: string, id: string, conversation: unknown) => readonly string[];

/**
 * Makes a function that finds the items to which a record refers by an id. For a record of a conversation, the function finds
 * the conversation's item, or otherwise the item for any conversation. A record without a conversation refers to every item
 * with the id.
 */
function keysIn(items: ReadonlyMap<string, Item>): KeysOf {
  const audiences = new Map<string, string[]>();
  for (const key of items.keys()) {
    const id = key.slice(0, key.lastIndexOf('\n'));
    audiences.set(id, [...(audiences.get(id) ?? []), key]);
  }
  return (log, id, conversation) => {
    if (typeof conversation !== 'string') return audiences.get(`${log}\n${id}`) ?? [];
    return [keyOf(log, id, conversation), keyOf(log, id, ANYONE)].filter((key) => items.has(key)).slice(0, 1);
  };
}

/** Returns how and at which position each item was closed, and how often Earpiece's own transcript contains the item. */
function closingsOf(records: readonly Stored[], keysOf: KeysOf): { closings: Map<string, string[]>; own: Map<string, number> } {
  const closings = new Map<string, string[]>();
  const own = new Map<string, number>();
  const offers = new Map<string, readonly string[]>();
  /** The items that were closed because a summary counted them. The end of such an item may close the item once more. */
  const counted = new Set<string>();
  const counts = new Map<string, readonly string[]>();
  /** The last carrier of each open item that was sent, or may have been sent. */
  const holder = new Map<string, string>();
  for (const { seq, log, body } of records) {
    const close = (keys: readonly string[], how: string): void => {
      for (const key of keys) {
        closings.set(key, [...(closings.get(key) ?? []), `${how} ${seq}`]);
        holder.delete(key);
      }
    };
    const keys = (ids: readonly string[]): readonly string[] => ids.flatMap((id) => keysOf(log, id, body.conversation));
    const draft: Draft = body;
    if (isType(draft, 'tool_call_response')) {
      const ids = (draft.notifications ?? []).map((notification) => notification.id);
      close(keys([...ids, ...(draft.summarizes ?? [])]), 'transcript');
      for (const key of keys(draft.summarizes ?? [])) counted.add(key);
      for (const key of keys(ids)) own.set(key, (own.get(key) ?? 0) + 1);
    }
    if (isType(draft, 'carrier_offered')) {
      offers.set(draft.carrier, keys([...draft.ids, ...(draft.summarizes ?? [])]));
      counts.set(draft.carrier, keys(draft.summarizes ?? []));
      for (const key of offers.get(draft.carrier) ?? []) holder.set(key, draft.carrier);
    }
    // A carrier whose lease has ended may still confirm. The confirmation closes the items that no other carrier has and that are
    // open.
    const held = (carrier: string): readonly string[] => (offers.get(carrier) ?? []).filter((key) => holder.get(key) === carrier);
    if (isType(draft, 'carrier_confirmed')) {
      const closed = held(draft.carrier);
      close(closed, 'confirm');
      for (const key of closed) if (counts.get(draft.carrier)?.includes(key)) counted.add(key);
    }
    if (isType(draft, 'carrier_released') && NEVER_SENT.has(draft.reason))
      for (const key of held(draft.carrier)) holder.delete(key);
    if (isType(draft, 'notification_closed')) {
      const again = new Set(draft.summarized ? keys(draft.ids).filter((key) => counted.delete(key)) : []);
      close(
        keys(draft.ids).filter((key) => !again.has(key)),
        draft.outcome,
      );
    }
    if (isType(draft, 'system_notification_folded')) close(keys([draft.id]), 'fold');
  }
  return { closings, own };
}

export type Problem = (kind: keyof Counts, text: string) => void;

const keyOf = (log: string, id: string, audience: string): string => `${log}\n${id}\n${audience}`;
