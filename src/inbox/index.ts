export type { Companion, Logs, Queued, Succession, Withdrawn } from './context.ts';
export { Inbox, loadEarly, loadWhy, toLog, type InboxDeps } from './inbox.ts';
export { Conversation, type Carried, type OfferOptions } from './conversation/conversation.ts';
export { PRESENCE_EVERY_MS } from './conversation/contact.ts';
export type { EarlyRefusal } from './conversation/early-refusal.ts';
export { isIn } from './conversation/fork.ts';
export { ASKED_AGAIN_MS, liftOf, type CallResult, type KnownGate, type Proof, type RefusedCall } from './conversation/gate.ts';
export type { Offer } from './conversation/lease.ts';
export { mayStillSend } from './conversation/may-still-send.ts';
export type { Pulled } from './conversation/pull.ts';
export type { PulledNotification } from './conversation/pulled.ts';
export { appendDelivery } from './conversation/older-states.ts';
export { replacedSince } from './conversation/overtaken.ts';
export { isSignal, type ConversationOptions } from './conversation/recipient.ts';
export { rendererOf } from './conversation/views.ts';
export type { Archived } from './housekeeping/archive.ts';
export type { Pruned } from './housekeeping/retention.ts';
export type { WrongClock } from './housekeeping/witnesses.ts';
export { randomIds } from './ids.ts';
export { nextHead } from './next-head.ts';
export { patience } from './patience.ts';
export { arrive, begin, leave } from './presence/arrival.ts';
export { identify, KNOWN_HOSTS, placeholder, shownAs, starterOf, type Identity } from './presence/identity.ts';
export { isSame } from './presence/presence.ts';
export { isSharedServer, terminalsIn } from './presence/codex-terminals.ts';
export { ancestors, isAlive, selfOwner, systemProcesses, type Process, type Processes } from './presence/processes.ts';
export { conversationOfSession } from './presence/session-id.ts';
export { placeOfSession, sessionTokenOf } from './presence/session-token.ts';
export { worktreeOf } from './presence/worktree.ts';
export {
  actorOf,
  ancestorsInCommand,
  callersEmitter,
  callersWords,
  HANDLE_OF_VARIABLE,
  HANDLE_VARIABLE,
  insideAgent,
  notAPerson,
  notThisPerson,
  type InsideAgent,
} from './producing/inside.ts';
export { redactedJson, redactor } from './producing/redact.ts';
export type { Lifted } from './producing/resume.ts';
export { earlierWakes, wakingFacts, type EarlierWakes } from './waking-facts.ts';
export { isPaused } from './paused.ts';
export { awaitReceipt, receiptState, type ReceiptState } from './why/await-receipt.ts';
export { receiptOf, wasSentIn } from './why/receipts.ts';
export type { Step, Why } from './why/why.ts';
