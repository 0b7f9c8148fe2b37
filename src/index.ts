/** A word in your agent's ear: durable notifications that ride to LLM agents, once. */
import './node-version.ts';

export { LoadedInbox as Earpiece, openLoadedInbox as openEarpiece, type OpenOptions } from './loaded-inbox.ts';
export {
  Conversation,
  identify,
  Inbox,
  type Carried,
  type CarryOptions,
  type ConversationOptions,
  type Identity,
  type Offer,
  type OfferOptions,
  type PolicySource,
  type Pulled,
  type PulledNotification,
  type Queued,
  type Receipt,
  type Refusal,
  type Why,
  type Withdrawn,
} from './inbox/index.ts';
export { formatAddress, parseAddress, type Address, type ConversationId, type LogKey } from './core/address.ts';
export { EarpieceError, type ErrorCode } from './core/errors.ts';
export type { Item } from './core/items.ts';
export type { Json } from './core/json.ts';
export type {
  Action,
  Deliver,
  Kind,
  Level,
  Notification,
  NotificationId,
  NotificationInput,
  Origin,
} from './core/notification.ts';
export type { Decision, Line, Plan } from './core/plan.ts';
export { DEFAULT_POLICY, type Policy } from './core/policy.ts';
export type { Clock, Ids, Presence, Store } from './core/ports.ts';
export type { ContactPoint, Draft, Outcome, SentView, Stored, ViewName } from './core/records.ts';
