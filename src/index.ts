/** The library `earpiece`, which delivers durable notifications to LLM agents. */
import './node-version.ts';

export { openEarpiece } from './library/index.ts';
export type {
  Active,
  Conversation,
  ConversationOptions,
  Earpiece,
  Events,
  Message,
  Notifications,
  Offer,
  OfferOptions,
  OpenOptions,
  Preview,
  ReceiptOptions,
  Refusal,
  ReleaseReason,
  Subscribers,
  TaskChange,
  Tasks,
  ToolResult,
} from './library/index.ts';
export { EarpieceError, type ErrorCode } from './core/errors.ts';
export type { Emitted, Event, EventInput, Handled, Severity } from './core/event.ts';
export type { Item } from './core/items.ts';
export type { Json } from './core/json.ts';
export type { Level, NotificationInput } from './core/notification.ts';
export type { Clock } from './core/ports.ts';
export type { Policy } from './core/policy.ts';
export type { Decision } from './core/plan.ts';
export type { Receipt, ReceiptName } from './core/receipts.ts';
export type { RecordType } from './core/record-types.ts';
export type { ContactPoint, Stored, ViewName } from './core/records.ts';
export type { Verdict } from './core/verdict/kinds.ts';
export type { Task, TaskActor, TaskStatus } from './core/task.ts';
export type { Lifted, Queued, ReceiptState, Step, Why, Withdrawn } from './inbox/index.ts';
export type { TaskEdit, TaskInput, TaskQuery } from './tasks/index.ts';
