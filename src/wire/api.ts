/**
 * The HTTP API's shapes, shared by the server and its clients: the types of the schemas in `schemas/`, without zod. Times are
 * epoch ms; an absent value is null. A page's `next` is the `after` of the next call (or `before`, if the list is newest
 * first). Null: there are no more.
 */
export type { Counts, Page, Problem } from './schemas/base.ts';
export type { CreatedToken, Health, SessionReply, ShellInfo, TokenInfo, TokenRequest } from './schemas/access.ts';
export type {
  AgentSummary,
  ConversationSummary,
  Doing,
  Fork,
  ForksReply,
  Hit,
  RecordsPage,
  SearchPage,
} from './schemas/agents.ts';
export type { ActivityReply, Delivery, EmittedReply } from './schemas/events.ts';
export type {
  Effect,
  InterruptReply,
  LiftedPause,
  NotificationsPage,
  NotificationState,
  NotificationView,
  QueuedReply,
  ReceiptReply,
  ResumeReply,
  Sent,
  Story,
  StoryItem,
  WithdrawReply,
} from './schemas/notifications.ts';
export type {
  MutesReply,
  MuteView,
  SettingChange,
  SettingReply,
  SettingScope,
  SettingsReply,
  SubscriberItem,
  SubscribersReply,
  SubscriberTestReply,
} from './schemas/settings.ts';
export type { TaskView } from './schemas/tasks.ts';
export type { FORCES, Force, TOKEN_KINDS, TokenKind } from './words.ts';
