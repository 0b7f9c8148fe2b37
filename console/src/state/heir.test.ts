import { expect, test } from 'vitest';
import type { ConversationSummary } from '../types.ts';
import { heirOf } from './heir.ts';

const agent = (...all: readonly (readonly [name: string, to: string | null, active?: boolean])[]): ConversationSummary[] =>
  all.map(
    ([conversation, to, active = false]) =>
      ({ conversation, active, passedTo: to === null ? null : { conversation: to, at: 0 } }) as ConversationSummary,
  );

test('an ended conversation links to the last conversation that continues it; an active conversation, or one without an heir, has no link', () => {
  expect(heirOf(agent(['a', 'b'], ['b', 'c'], ['c', null, true]), 'a')).toBe('c');
  expect(heirOf(agent(['a', 'b', true], ['b', null]), 'a')).toBeNull();
  expect(heirOf(agent(['a', null]), 'a')).toBeNull();
  expect(heirOf(agent(['a', 'b'], ['b', 'a']), 'a')).toBeNull();
  expect(heirOf([], 'a')).toBeNull();
});
