export { Inbox, toLog, type InboxDeps, type PolicySource, type Pruned, type Queued, type Withdrawn } from './inbox.ts';
export {
  Conversation,
  isSignal,
  type Carried,
  type CarryOptions,
  type ConversationOptions,
  type Offer,
  type OfferOptions,
  type Refusal,
} from './conversation.ts';
export { isIn, type Forked, type Stretch, type TranscriptQuery } from './fork.ts';
export { identify, KNOWN_HOSTS, placeholder, type Identity, type IdentityQuestion, type KnownHost } from './identity.ts';
export { ancestors, isAlive, selfOwner, systemProcesses, type Process, type Processes } from './processes.ts';
export { markOf, randomIds } from './ids.ts';
export { patience } from './patience.ts';
export type { Pulled, PulledNotification } from './pulled.ts';
export { redactedJson, redactor } from './redact.ts';
export { receiptOf, RECEIPTS, type Receipt, type Why } from './why.ts';
