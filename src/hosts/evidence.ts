/**
 * Proves deliveries by the host's own transcript. A hook ends when its bytes are written. If the host is then killed, the model
 * may never read the bytes.
 */
import type { Item } from '../core/items.ts';
import { isType, type CarrierId } from '../core/records.ts';
import { Conversation } from '../inbox/index.ts';
import type { Host } from './host.ts';
import type { Caller } from './moment.ts';

/** The maximum number of delivered notifications that are checked at once, the newest first. */
const DELIVERIES = 20;
/**
 * The maximum age of a delivery for which `observe` searches the transcript. The host may have removed or cut the transcript of
 * an older delivery.
 */
const SEARCHED_MS = 10 * 60_000;
/** How far the times of an entry and of its confirmation may differ. The entry has the time of the host's clock. */
const SLACK_MS = 5_000;
/** The maximum number of dead sessions that are checked, the newest first. */
const SESSIONS = 5;
const DIED_WITHIN_MS = 24 * 3_600_000;

/** Records which deliveries the transcript of this session contains. */
export async function observe(conversation: Conversation, host: Host, { transcript }: Caller): Promise<void> {
  if (host.transcript === undefined || transcript === undefined) return;
  const now = conversation.inbox.store.now();
  const unproven = (await unprovenOf(conversation)).filter(({ closedAt = 0 }) => now - closedAt < SEARCHED_MS);
  await proven(conversation, host, transcript, unproven);
}

/**
 * Reopens the last deliveries by hooks to earlier sessions that died, if their transcripts do not contain these deliveries. Each
 * notification is offered again with the same id, marked as repeated. A resumed session is checked too.
 */
export async function openUnproven(conversation: Conversation, host: Host, { transcript, nested }: Caller): Promise<void> {
  if (host.transcript === undefined || transcript === undefined || nested) return;
  const { inbox, log, options } = conversation;
  const now = inbox.store.now();
  const died = (await inbox.store.presence({ log }))
    .filter((p) => p.host === host.agent && inbox.overBecause(p) === 'died' && now - p.seenAt < DIED_WITHIN_MS)
    .filter(({ folder }) => folder === undefined || options.folder === undefined || folder === options.folder)
    .toSorted((a, b) => b.seenAt - a.seenAt);
  for (const { conversation: id, seenAt } of died.slice(0, SESSIONS)) {
    const session = new Conversation(inbox, log, id);
    // Older deliveries were already checked while the session was active.
    const last = (await unprovenOf(session)).filter(({ closedAt = 0 }) => closedAt >= seenAt - SLACK_MS);
    const file = id === conversation.id ? transcript : host.transcript.ofSession(transcript, id);
    const missing = await proven(session, host, file, last);
    for (const carrier of await handedByHook(session, missing))
      await inbox.store.append(log, [{ type: 'carrier_released', conversation: id, carrier, reason: 'unproven' }]);
  }
}

/** Returns the items that were delivered to this conversation, without proof so far that the model has read them. */
async function unprovenOf({ inbox, log, id }: Conversation): Promise<readonly Item[]> {
  const unread = await inbox.store.items(log, { kind: 'unread', conversation: id, limit: DELIVERIES });
  return unread.filter(({ outcome, observed, carrier }) => outcome === 'delivered' && !observed && carrier !== undefined);
}

/** Records the items that the file contains, and returns the items that the file lacks. */
async function proven(
  { inbox, log, id }: Conversation,
  host: Host,
  file: string,
  items: readonly Item[],
): Promise<readonly Item[]> {
  if (items.length === 0) return items;
  const since = Math.min(...items.map(({ closedAt = 0 }) => closedAt)) - SLACK_MS;
  const isGiven = host.transcript?.givenSince(file, since) ?? (() => false);
  const found = items.filter(({ text }) => text !== undefined && isGiven(text));
  if (found.length > 0)
    await inbox.store.append(log, [
      { type: 'notification_observed', conversation: id, ids: found.map((item) => item.id), evidence: `transcript ${file}` },
    ]);
  return items.filter((item) => !found.includes(item));
}

/**
 * Returns the carriers by which a hook delivered these items. Carriers of a gateway are omitted, because a gateway itself detects
 * that its client died.
 */
async function handedByHook({ inbox, log }: Conversation, items: readonly Item[]): Promise<readonly CarrierId[]> {
  if (items.length === 0) return [];
  const records = await inbox.store.read({ log, seqs: items.flatMap(({ history }) => history), types: ['carrier_offered'] });
  const offered = records.flatMap(({ body }) =>
    isType(body, 'carrier_offered') && (body.through === 'hook' || body.at_point !== 'tool_result') ? [body] : [],
  );
  return [...new Set(offered.map(({ carrier }) => carrier))].filter((carrier) => items.some((item) => item.carrier === carrier));
}
