/**
 * The HTTP API's shapes, shared by the server and its clients. `scripts/wire.ts` makes `types/` from the schemas. Times are epoch
 * ms. An absent value is usually null. Pass a page's `next` in the next call as `after` or `before`, whichever the list has. If
 * `next` is null, there is no further page.
 */
import type { NotificationView } from './types/notifications.ts';
import type { SettingChange } from './types/settings.ts';

export type Page<T> = { readonly items: readonly T[]; readonly next: string | null };
export type NotificationState = NotificationView['state'];
/** The file of a setting: the user's, for all projects, or the project's. */
export type SettingScope = keyof SettingChange['in'];

export type { Counts, Problem } from './types/base.ts';
export type { CreatedToken, Health, SessionReply, ShellInfo, TokenInfo, TokenRequest } from './types/access.ts';
export type {
  AgentSummary,
  ConversationSummary,
  Doing,
  Fork,
  ForksReply,
  Held,
  Hit,
  RecordsPage,
  SearchPage,
} from './types/agents.ts';
export type { ActivityReply, Delivery, EmittedReply } from './types/events.ts';
export type {
  Effect,
  InterruptReply,
  LiftedPause,
  NotificationsPage,
  NotificationView,
  QueuedReply,
  ReceiptReply,
  ResumeReply,
  Sent,
  Story,
  StoryItem,
  WithdrawReply,
} from './types/notifications.ts';
export type {
  MutesReply,
  MuteView,
  SettingChange,
  SettingReply,
  SettingsReply,
  SubscriberItem,
  SubscribersReply,
  SubscriberTestReply,
} from './types/settings.ts';
export type { TaskView } from './types/tasks.ts';
export type { FORCES, Force, TOKEN_KINDS, TokenKind } from './words.ts';
