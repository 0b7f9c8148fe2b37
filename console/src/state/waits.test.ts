import { expect, test } from 'vitest';
import type { Verdict } from '../../../src/wire/client/index.ts';
import type { Note } from './notes.ts';
import { waitsSays } from './waits.ts';

const critical = { level: 'critical', action: null, gate: true, deliver: null, receipt: 'queued' } as unknown as Note;
const holds = { agent: null, force: 'refuses_next_call', verdict: undefined, now: 0 } as const;
const says = (verdict: Partial<Verdict>, note: Partial<Note> = {}): string =>
  waitsSays({ ...critical, level: 'info', gate: false, ...note }, { ...holds, verdict: verdict as Verdict });

test('the card of an interrupt says that tool calls are refused while its gate is up, but not after a person marked it as read', () => {
  expect(waitsSays(critical, holds)).toBe('refuses the next tool call until the agent has read this notification');
  expect(waitsSays({ ...critical, gate: false, receipt: 'read' }, holds)).toBe('waits: marked as read, and the gate is down');
});

test('the card of a notification that a mute, a filter or the budget holds back names that reason', () => {
  expect(says({ kind: 'muted', by: 'mira' })).toBe('muted by mira: the next message will filter this notification');
  expect(says({ kind: 'filtered' })).toBe('a filter is set: the next message will filter this notification');
  expect(says({ kind: 'budget', how: 'waits' })).toBe('waits: the next message has no room for this notification');
  expect(says({ kind: 'muted', by: 'mira' }, { level: 'critical', gate: true })).toMatch(/^muted by mira/u);
  expect(says({ kind: 'due' })).toBe('waits');
});

test('an agent that was never seen is not called inactive', () => {
  const note = { ...critical, level: 'info', gate: false } as Note;
  expect(waitsSays(note, { ...holds, agent: 'unseen' })).toBe('waits: the agent has not made contact yet');
  expect(waitsSays(note, { ...holds, agent: 'away' })).toBe('waits: the agent is not active');
});
