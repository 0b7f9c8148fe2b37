/** What a store, a host or a view of one's own is written against. Pure: no clock, no I/O. */
export {
  conversationId,
  formatAddress,
  logKey,
  logOf,
  MAIN,
  nameFrom,
  parseAddress,
  splitLog,
  type Address,
  type ConversationId,
  type LogKey,
} from './address.ts';
export { didYouMean, EarpieceError, type ErrorCode } from './errors.ts';
export { filteredBecause, filterOf, matchesKind, type FilterCause, type Mute } from './filter.ts';
export { ANYONE, isFor, itemKey, replay, settle, touches, type Item, type Settled, type Touches } from './items.ts';
export type { Json } from './json.ts';
export { NO_FACTS, plan, type Facts } from './make-plan.ts';
export {
  ACTIONS,
  formatKind,
  isInterrupt,
  LEVELS,
  levelRank,
  LIMITS,
  makeNotification,
  MOMENTS,
  parseKind,
  type Action,
  type Deliver,
  type Kind,
  type Level,
  type Notification,
  type NotificationId,
  type NotificationInput,
  type Origin,
} from './notification.ts';
export { PLAN_STEPS, type Decision, type Line, type Plan, type PlanStep, type Rest } from './plan.ts';
export { DEFAULT_POLICY, type Policy } from './policy.ts';
export type {
  AgentOverview,
  Appended,
  Clock,
  Ids,
  ItemQuery,
  LogOverview,
  Presence,
  PresenceUpdate,
  ReadQuery,
  Store,
  Swap,
  Wait,
  Withheld,
} from './ports.ts';
export {
  CONTACT_POINTS,
  isType,
  notificationOf,
  OUTCOMES,
  PROVIDER_VISIBLE,
  queuedRecord,
  VIEW_NAMES,
  type CarrierId,
  type ContactPoint,
  type Draft,
  type KnownDraft,
  type Outcome,
  type Owner,
  type SentView,
  type Stored,
  type UnknownRecord,
  type ViewName,
} from './records.ts';
export { estimateTokens } from './tokens.ts';
export { gateText, render, signalText, type GateInput, type Render, type ViewInput } from './views/index.ts';
