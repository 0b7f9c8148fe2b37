export { Inbox, loadWhy, toLog, type InboxDeps, type PolicySource, type Pruned, type Queued } from './inbox.ts';
export type { Lifted, Withdrawn } from './lift.ts';
export { arrive, begin, leave, type Arrival } from './arrival.ts';
export {
  Conversation,
  isSignal,
  PRESENCE_EVERY_MS,
  type Carried,
  type CarryOptions,
  type ConversationOptions,
  type OfferOptions,
} from './conversation.ts';
export { ASKED_AGAIN_MS, liftOf, type KnownGate, type Refusal, type RefusedCall } from './gate.ts';
export type { Offer } from './lease.ts';
export { isIn, type Forked, type Stretch, type TranscriptQuery } from './fork.ts';
export { identify, KNOWN_HOSTS, placeholder, type Identity, type IdentityQuestion, type KnownHost } from './identity.ts';
export { HANDLE_OF_VARIABLE, HANDLE_VARIABLE, insideAgent, notAPerson, type InsideAgent, type InsideQuestion } from './inside.ts';
export { ancestors, isAlive, selfOwner, systemProcesses, type Process, type Processes } from './processes.ts';
export { conversationOfSession } from './session-id.ts';
export { markOf, randomIds } from './ids.ts';
export { patience } from './patience.ts';
export type { Pulled, PulledNotification } from './pull.ts';
export { redactedJson, redactor } from './redact.ts';
export type { Companion, Inherited, Succession } from './succession.ts';
export { worktreeOf } from './worktree.ts';
export { placeOfSession, sessionTokenOf } from './session-token.ts';
export { receiptOf, RECEIPTS, wasSentIn } from './receipts.ts';
export type { Reader, Receipt, Why } from './why.ts';
export type { WrongClock } from './witnesses.ts';
export { rendererOf } from './views.ts';
