/** Predicts the verdict on a notification, as if it were queued for an agent now. The notification is not queued. */
import { logOf, type Address } from '../../core/address.ts';
import { settle, type Item } from '../../core/items.ts';
import type { NotificationInput, Subscribed } from '../../core/notification.ts';
import { queuedRecord } from '../../core/records.ts';
import type { Verdict } from '../../core/verdict/kinds.ts';
import { verdictOf } from '../../core/verdict/verdict.ts';
import type { Logs } from '../context.ts';
import { checked } from '../producing/checked.ts';
import { audienceOfAction, foldable } from '../producing/queue-one.ts';
import { outlooksOf } from './outlook.ts';
import { factsOf } from './verdict-facts.ts';

export type ForOne = Exclude<Address, { readonly kind: 'project' }>;

export async function foretell(inbox: Logs, to: ForOne, input: NotificationInput, subscribed?: Subscribed): Promise<Verdict> {
  const log = logOf(to);
  const made = checked(inbox, input, inbox.policies.policy(to.project));
  const notification = subscribed === undefined ? made : { ...made, subscriber: subscribed };
  const audience = to.kind === 'conversation' ? [to.conversation] : await audienceOfAction(inbox, log, notification);
  const into = await foldable(inbox, log, notification, audience);
  if (into !== undefined) return { kind: 'folded', into: into.id };
  const place = { seq: (await inbox.store.head()) + 1, at: inbox.store.now() };
  const settled = settle(queuedRecord(notification, audience.length === 0 ? {} : { audience }), place, []);
  const [item] = settled.kind === 'settled' ? settled.items : ([] as Item[]);
  if (item === undefined) throw new TypeError('the notification has no audience');
  const decisions = await outlooksOf(inbox, log, item, [item]);
  return verdictOf(await factsOf(inbox, log, { item, records: [], decisions }));
}
