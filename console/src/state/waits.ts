/** Makes the text of a card for a waiting notification. */
import { momentOf, type Verdict } from '../../../src/wire/client/index.ts';
import type { Deliver, Force } from '../types.ts';
import { MOMENTS } from '../words.ts';
import { timeWords, whenSays } from './clock.ts';
import type { Note } from './notes.ts';

/** The reason why the agent cannot read now: never seen, inactive, paused, or held by an interrupt; null if there is none. */
export type AgentHolds = 'unseen' | 'away' | 'paused' | 'held' | null;

type Holds = {
  readonly agent: AgentHolds;
  /** The effect of an interrupt at the host of the conversation. */
  readonly force: Force;
  /** The server's verdict; undefined until the server has answered. */
  readonly verdict: Verdict | undefined;
  readonly now: number;
};

const INTERRUPTS: Readonly<Record<Force, string>> = {
  aborts_stream: 'interrupts the agent',
  refuses_next_call: 'refuses the next tool call until the agent has read this notification',
  refuses_wrapped_call: 'refuses the next call of a wrapped tool until the agent has read this notification',
  next_contact: 'arrives with the next message to the agent',
  waits: 'waits until the agent makes contact',
};

const BEHIND_GATE = 'waits: the agent has to read an interrupt first';

export function waitsSays(note: Note, { agent, force, verdict, now }: Holds): string {
  const { level, action, gate } = note;
  const held = verdict === undefined ? null : heldBy(verdict, now);
  if (held !== null) return held;
  if (agent === 'unseen') return 'waits: the agent has not made contact yet';
  if (agent === 'away') return 'waits: the agent is not active';
  if (agent === 'paused' && action === null) return 'waits: the agent is paused';
  if (agent === 'held' && !gate && verdict === undefined) return BEHIND_GATE;
  if (action === 'pause') return 'pauses the agent until a person resumes the agent';
  // An interrupt that a person has marked as read waits like other notifications.
  if (gate && (level === 'critical' || action === 'cancel')) return INTERRUPTS[force];
  const waits = note.deliver === null || note.deliver === 'next' ? 'waits' : `waits for ${waitedFor(note.deliver, now)}`;
  return note.receipt === 'read' ? `${waits}: marked as read, and the gate is down` : waits;
}

/**
 * Returns the reason why the next message will not carry the notification, apart from the agent's absence and a pause. Returns
 * null if there is no such reason.
 */
function heldBy(verdict: Verdict, now: number): string | null {
  if (verdict.kind === 'muted') return `muted by ${verdict.by}: the next message will filter this notification`;
  if (verdict.kind === 'filtered') return 'a filter is set: the next message will filter this notification';
  if (verdict.kind === 'expired') return 'this notification has expired';
  if (verdict.kind === 'superseded') return 'a newer notification replaces this notification';
  if (verdict.kind === 'known') return 'the agent already knows this';
  if (verdict.kind === 'behind_gate') return BEHIND_GATE;
  if (verdict.kind === 'other_purpose') return `waits for a conversation of the purpose ${verdict.purpose}`;
  if (verdict.kind === 'moment' && verdict.rides !== undefined) return `waits: ${momentOf(verdict, timeWords(now))}`;
  if (verdict.kind !== 'budget') return null;
  return verdict.how === 'waits'
    ? 'waits: the next message has no room for this notification'
    : 'the next message has no room for the text, and only counts this notification';
}

function waitedFor(deliver: Deliver, now: number): string {
  if (typeof deliver === 'object') {
    if ('at' in deliver) return whenSays(deliver.at, now);
    return 'afterTurns' in deliver ? `${deliver.afterTurns} more turns` : `the end of ${deliver.afterTool}`;
  }
  return MOMENTS.find(({ value }) => value === deliver)?.waits ?? 'the next message';
}
