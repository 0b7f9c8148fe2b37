/** The library: what a program of a user gets. The rest of this package is behind it. */
export { Earpiece, openEarpiece, type Active, type OpenOptions, type ReceiptOptions } from './earpiece.ts';
export {
  Conversation,
  type ConversationOptions,
  type Message,
  type Notifications,
  type Offer,
  type OfferOptions,
  type Preview,
  type Refusal,
  type ReleaseReason,
  type ToolResult,
} from './conversation.ts';
export { Events, type Subscribers } from './events.ts';
export { Tasks, type TaskChange } from './tasks.ts';
export { innerOf } from './inner.ts';
export { fullName } from './names.ts';
export { bad, check, checkText, type Table } from './arguments.ts';
