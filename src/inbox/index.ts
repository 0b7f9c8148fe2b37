export type { Companion, Logs, PolicySource, Queued, Succession, Withdrawn } from './context.ts';
export { Inbox, loadWhy, toLog, type InboxDeps } from './inbox.ts';
export { Conversation, type Carried, type OfferOptions } from './conversation/conversation.ts';
export { PRESENCE_EVERY_MS } from './conversation/contact.ts';
export type { CarryOptions } from './conversation/facts.ts';
export { isIn, type Forked, type Stretch, type TranscriptQuery } from './conversation/fork.ts';
export { ASKED_AGAIN_MS, liftOf, type KnownGate, type Refusal, type RefusedCall } from './conversation/gate.ts';
export type { Offer } from './conversation/lease.ts';
export type { Pulled, PulledNotification } from './conversation/pull.ts';
export { isSignal, type ConversationOptions } from './conversation/recipient.ts';
export { rendererOf } from './conversation/views.ts';
export type { Pruned } from './housekeeping/retention.ts';
export type { WrongClock } from './housekeeping/witnesses.ts';
export { markOf, randomIds } from './ids.ts';
export { patience } from './patience.ts';
export { arrive, begin, leave, type Arrival } from './presence/arrival.ts';
export { identify, KNOWN_HOSTS, placeholder, type Identity, type IdentityQuestion, type KnownHost } from './presence/identity.ts';
export { ancestors, isAlive, selfOwner, systemProcesses, type Process, type Processes } from './presence/processes.ts';
export { conversationOfSession } from './presence/session-id.ts';
export { placeOfSession, sessionTokenOf } from './presence/session-token.ts';
export type { Inherited } from './presence/succession.ts';
export { worktreeOf } from './presence/worktree.ts';
export {
  HANDLE_OF_VARIABLE,
  HANDLE_VARIABLE,
  insideAgent,
  notAPerson,
  type InsideAgent,
  type InsideQuestion,
} from './producing/inside.ts';
export { redactedJson, redactor } from './producing/redact.ts';
export type { Lifted } from './producing/resume.ts';
export { awaitReceipt, type ReceiptName, type ReceiptState } from './why/await-receipt.ts';
export { receiptOf, RECEIPTS, wasSentIn } from './why/receipts.ts';
export type { Reader } from './why/verdict-facts.ts';
export type { Receipt, Why } from './why/why.ts';
