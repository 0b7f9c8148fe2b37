/**
 * Records a refusal that the model got before the store answered. Before this record is appended, the interrupts may have been
 * withdrawn, read, or offered by another carrier. A person may also have lifted a pause before a record showed that the agent had
 * seen the pause.
 */
import { causeIn } from '../../core/cause.ts';
import { defined } from '../../core/defined.ts';
import { isFor, type Item } from '../../core/items.ts';
import type { NotificationId } from '../../core/notification.ts';
import { isType } from '../../core/records.ts';
import { mayContinue } from '../producing/resume.ts';
import type { Conversation } from './conversation.ts';

export type EarlyRefusal = {
  readonly ids: readonly NotificationId[];
  readonly text: string;
  /** The name of the called tool. */
  readonly on: string;
  /** When the refusal was sent, by the store's clock. */
  readonly at: number;
  /** The number of equal refusals in a row. `on` and `at` describe the last refusal. Default: 1. */
  readonly times?: number;
};

/** The number of the agent's newest items that are searched for a resume. */
const SEARCHED = 500;

export async function recordEarly(conversation: Conversation, { ids, text, on, at, times }: EarlyRefusal): Promise<void> {
  const { inbox, log, id } = conversation;
  const appended = await inbox.store.append(log, [
    { type: 'gate_refused', conversation: id, ids, on, clockAt: at, text, shows: ids, ...defined({ times }) },
  ]);
  if (appended.kind !== 'appended') throw new TypeError(`the record of a refusal cannot fail (${appended.kind})`);
  for (const item of appended.items)
    if (item.notification.action === 'pause' && item.state === 'closed' && !item.gate) await tellLifted(conversation, item, at);
}

/**
 * Notifies the agent that it may continue, if a person lifted the pause, and no resume is open or was closed after the refusal.
 * The record is appended without `queue`, because `queue` would also lift a newer pause.
 */
async function tellLifted(conversation: Conversation, pause: Item, refusedAt: number): Promise<void> {
  const { inbox, log, id } = conversation;
  const records = await inbox.store.read({ log, seqs: pause.history, types: ['notification_closed', 'gate_lifted'] });
  const lift = records
    .map(({ body }) => body)
    .findLast((body) => isType(body, 'notification_closed') || isType(body, 'gate_lifted'));
  const cause = lift === undefined ? undefined : causeIn(lift);
  if (cause?.kind !== 'resumed') return;
  const { by } = cause;
  const items = await inbox.store.items(log, { kind: 'latest', limit: SEARCHED });
  const told = items.filter((item) => item.notification.action === 'resume' && isFor(item, id, undefined));
  if (told.some(({ state, closedAt }) => state !== 'closed' || (closedAt ?? 0) >= refusedAt)) return;
  const person = items.find((item) => item.id === by)?.notification.origin?.person ?? by;
  const { origin, ...rest } = mayContinue(person);
  const queued = await inbox.prepare(log, { ...rest, ...defined({ origin: inbox.speaker ? undefined : origin }) }, id);
  await inbox.store.append(log, [queued]);
}
