/** Exports the public API for programs, and hides the rest of this package. */
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
export { innerOf, mustBeOpen } from './inner.ts';
export { fullName } from './names.ts';
export { bad, check, checkName, checkText, shown, type Table } from './arguments.ts';
export { checkFolder } from './folder.ts';
