/** What things are called on the page: the words of the glossary. */
import { markedBy } from '../../src/wire/client/index.ts';
import type { AgentSummary, ConversationSummary, Counts, Force, Level } from './types.ts';

export const LEVELS: readonly Level[] = ['info', 'warning', 'error', 'critical'];
/** The gravest first, as a person looks for them. */
export const GRAVEST: readonly Level[] = LEVELS.toReversed();

export const MOMENTS: readonly { readonly value: string; readonly says: string; readonly waits: string }[] = [
  { value: 'next', says: 'next message', waits: 'the next message' },
  { value: 'after_tool', says: 'after a tool', waits: 'the next tool result' },
  { value: 'next_cycle', says: 'next request', waits: 'the next request to the model' },
  { value: 'cycle_end', says: 'end of the request', waits: 'the end of this request' },
  { value: 'turn_start', says: 'next turn', waits: 'the next turn' },
  { value: 'turn_end', says: 'end of the turn', waits: 'the end of this turn' },
  { value: 'now', says: 'now', waits: 'nothing: now' },
];

/** What Stop does there, before it is done. */
export const STOP_DOES: Readonly<Record<Force, string>> = {
  aborts_stream: 'aborts the stream',
  refuses_next_call: 'refuses its next tool call',
  next_contact: 'asks at its next message',
  waits: 'waits until it comes back',
};

/** What a host can promise, in a few words. */
export const GUARANTEE: Readonly<Record<Force, string>> = {
  aborts_stream: 'exactly once · can abort',
  refuses_next_call: 'leased · can refuse tools',
  next_contact: 'leased · at its next message',
  waits: 'not here now',
};

export const GUARANTEE_LONG: Readonly<Record<Force, string>> = {
  aborts_stream: 'Its transcript is ours: a notification is delivered exactly once, and a critical one aborts the stream.',
  refuses_next_call:
    'Its transcript is its own: delivery is a lease that is confirmed. A critical one refuses the next tool call until it was read.',
  next_contact: 'Its transcript is its own: delivery is a lease that is confirmed. A critical one rides on the next message.',
  waits: 'No conversation is active: what is queued waits, durably, until one makes contact.',
};

/** How far a notification got. A mark of a person proves nothing of the agent, so it names the person. */
export const receiptSays = (receipt: string, by: string | null): string =>
  receipt === 'read' && by !== null ? markedBy(by) : receipt.replaceAll('_', ' ');

export const totalOf = (counts: Counts): number => LEVELS.reduce((sum, level) => sum + counts[level], 0);

/** Of a host whose loop is its own nobody knows what it does between its calls. */
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

/** The state of an agent: an agent that is not there is not active first, and paused second. */
export const stateSays = (agent: Pick<AgentSummary, 'doing' | 'active' | 'hosts' | 'paused'>): string =>
  !agent.paused ? doingSays(agent) : agent.active ? 'paused' : 'not active, paused';

export const hostSays = ({ host, hostVersion }: Pick<ConversationSummary, 'host' | 'hostVersion'>): string =>
  host === null ? 'unknown host' : `${host}${hostVersion === null ? '' : ` ${hostVersion}`}`;
