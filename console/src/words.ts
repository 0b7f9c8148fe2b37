/** Describes levels, moments, receipts and effects in the words of the glossary. */
import { markedBy } from '../../src/wire/client/index.ts';
import { visible } from './state/text.ts';
import type { AgentSummary, ConversationSummary, Counts, Deliver, Force, Level } from './types.ts';

export const LEVELS: readonly Level[] = ['info', 'warning', 'error', 'critical'];
/** The levels, the most severe first. */
export const GRAVEST: readonly Level[] = LEVELS.toReversed();

export type Moment = Exclude<Deliver, object>;
export const MOMENTS: readonly { readonly value: Moment; readonly says: string; readonly waits: string }[] = [
  { value: 'next', says: 'next message', waits: 'the next message' },
  { value: 'after_tool', says: 'after a tool', waits: 'the next tool result' },
  { value: 'next_cycle', says: 'next request', waits: 'the next request to the model' },
  { value: 'cycle_end', says: 'end of the cycle', waits: 'the end of this cycle' },
  { value: 'turn_start', says: 'next turn', waits: 'the next turn' },
  { value: 'turn_end', says: 'end of the turn', waits: 'the end of this turn' },
  { value: 'now', says: 'now', waits: 'the next message' },
];

/** Describes the effect of Stop at the host of a conversation, before a person presses the button. */
export const stopDoes = (at: At | undefined): string => STOPS[at?.force ?? 'waits'] + ABORTS[abortsIn(at)];
/** Describes the effect of Pause at the host of a conversation. */
export const pauseDoes = (at: At | undefined): string =>
  PAUSES[at?.force ?? 'waits'] + (abortsIn(at) === 'always' ? ABORTS.always : '');

type At = Pick<ConversationSummary, 'force' | 'host'>;

const STOPS: Readonly<Record<Force, string>> = {
  aborts_stream: 'aborts the stream',
  refuses_next_call: 'refuses the next tool call',
  refuses_wrapped_call: 'refuses the next call of a wrapped tool',
  next_contact: 'arrives with the next message to the agent',
  waits: 'waits until the agent makes contact',
};

const PAUSES: Readonly<Record<Force, string>> = {
  aborts_stream: 'lets the agent finish its turn, then holds the agent until you resume it',
  refuses_next_call: 'refuses every tool call, even of built-in tools, until you resume the agent',
  refuses_wrapped_call: 'refuses calls of wrapped tools until you resume the agent; built-in tools still run',
  next_contact: 'arrives with the next message to the agent, and holds the agent until you resume it',
  waits: 'holds the agent from its next contact until you resume the agent',
};

/**
 * Returns when the host also aborts a running request. The plugins of opencode and pi abort a request only in a terminal, and not
 * in a run without a person (`opencode run`).
 */
function abortsIn(at: At | undefined): keyof typeof ABORTS {
  if (at?.force !== 'refuses_next_call') return 'never';
  return at.host === 'ai-sdk' ? 'always' : at.host === 'opencode' || at.host === 'pi' ? 'terminal' : 'never';
}
const ABORTS = {
  never: '',
  always: ', and aborts the running request',
  terminal: ', and in a terminal aborts the running request',
} as const;
const ABORTS_LONG = {
  never: '',
  always: ' A critical notification also aborts the running request to the model.',
  terminal: ' In a terminal, a critical notification also aborts the running request to the model.',
} as const;

/** The promise of a host, in a few words. */
export const GUARANTEE: Readonly<Record<Force, string>> = {
  aborts_stream: 'exactly once · can abort',
  refuses_next_call: 'leased · can refuse tools',
  refuses_wrapped_call: 'leased · wrapped tools only',
  next_contact: 'leased · with the next message',
  waits: 'not active',
};

/** Describes the promise of a host in whole sentences. */
export const guaranteeLong = (at: At): string => LONG[at.force] + ABORTS_LONG[abortsIn(at)];

const LEASED = 'The host keeps the transcript: a notification is delivered when the host has confirmed the offer.';
/** The result of an action at each of its agents, as sentences. */
export const effectsSay = (
  deed: string,
  effects: readonly { readonly address: string; readonly host: string | null; readonly says: string }[],
): string =>
  effects.map(({ address, host, says }) => `${deed} for ${address}${host === null ? '' : ` (${host})`}: ${says}.`).join(' ');

const LONG: Readonly<Record<Force, string>> = {
  aborts_stream:
    'Earpiece keeps the transcript, so each notification is delivered exactly once. A critical notification aborts the stream. A pause lets the turn finish.',
  refuses_next_call: `${LEASED} Until the agent has read a critical notification, the host refuses tool calls, even of built-in tools. During a pause, the host refuses each call.`,
  refuses_wrapped_call: `${LEASED} Until the agent has read a critical notification, and during a pause, the gateway refuses calls of wrapped tools. Built-in tools still run. To refuse built-in tools too, install hooks: earpiece install`,
  next_contact: `${LEASED} A critical notification arrives with the next message to the agent. A tool call is refused only if the loop asks Earpiece before the call.`,
  waits: 'The conversation is not active. A queued notification waits in the database until the agent makes contact.',
};

/**
 * Describes the receipt of a notification. The text names a person who marked the notification as read, because the agent may not
 * have read the notification.
 */
export const receiptSays = (receipt: string, by: string | null): string =>
  receipt === 'read' && by !== null ? markedBy(by) : receipt.replaceAll('_', ' ');

/** Describes the progress of a notification in a list, with the word of the conversation for a notification that waits. */
export const progressSays = ({ receipt, markedBy }: { readonly receipt: string; readonly markedBy: string | null }): string =>
  receipt === 'queued' ? 'waits' : receiptSays(receipt, markedBy);

type Sent = { readonly person: string | null; readonly sender: string | null };

/** Names the producer that sent a notification. The notification of a subscriber has no such producer. */
export function producerOf({ person, sender }: Sent): string {
  if (person !== null) return visible(person);
  return sender === null ? 'an unnamed producer' : `the agent ${visible(sender)}`;
}

/** Names the sender of a notification. Only a notification of a subscriber, which the bus made, is from the system. */
export function senderSays(sent: Sent & { readonly subscriber: string | null }): string {
  const isMade = sent.subscriber !== null && sent.person === null && sent.sender === null;
  return isMade ? 'system' : `from ${producerOf(sent)}`;
}

/** Describes the effect of the next carrier on a notification that the carrier does not take. */
export const NEXT_CARRIER = {
  keep: 'would not contain this notification, which stays open',
  summarize: 'would contain this notification only in a summary',
  close: 'would close this notification without delivery',
} as const;

export const totalOf = (counts: Counts): number => LEVELS.reduce((sum, level) => sum + counts[level], 0);

/** Describes an agent's current work. The loop of another program does not report its work between calls. */
export function doingSays({ doing, active, hosts }: Pick<AgentSummary, 'doing' | 'active' | 'hosts'>): string {
  switch (doing.kind) {
    case 'tool':
      return `calling ${doing.what ?? 'a tool'}`;
    case 'thinking':
      return 'thinking';
    case 'nothing':
      if (active && doing.what !== null) return `last called ${doing.what}`;
      return !active ? 'not active' : hosts.every((host) => host === 'earpiece') ? 'idle' : 'quiet';
    default:
      return doing.kind satisfies never;
  }
}

/** Describes the state of an agent: first whether it is active, then whether an interrupt blocks it. */
export function stateSays(agent: Pick<AgentSummary, 'doing' | 'active' | 'hosts' | 'paused' | 'held'>): string {
  const { held } = agent;
  const holds = agent.paused ? 'paused' : held === null ? null : held.kind.startsWith('budget.') ? 'over budget' : 'held';
  if (holds === null) return doingSays(agent);
  return agent.active ? holds : `not active, ${holds}`;
}

export const hostSays = ({ host, hostVersion }: Pick<ConversationSummary, 'host' | 'hostVersion'>): string =>
  host === null ? 'unknown host' : `${host}${hostVersion === null ? '' : ` ${hostVersion}`}`;
