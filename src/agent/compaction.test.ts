import { describe, expect, it } from 'vitest';
import type { Draft } from '../core/records.ts';
import { compacted, SUMMARY_REQUEST } from './compaction.ts';

const turn = (n: number): Draft[] => [
  { type: 'turn_start' },
  { type: 'chat_request', content: `question ${n}`, source: 'user' },
  { type: 'chat_response', reasoning: `thinking ${n}` },
  { type: 'tool_call_request', id: `c${n}`, name: 'run', arguments: { text: 'x'.repeat(100) } },
  { type: 'tool_call_response', id: `c${n}`, content: `result ${n}`, is_error: n === 1 },
  { type: 'chat_response', message: `answer ${n}` },
];
const overlay = (from: number, to: number, policies: object): Draft => ({
  type: 'compaction',
  from_turn: from,
  to_turn: to,
  ...policies,
});
const texts = (records: readonly Draft[]): string => JSON.stringify(compacted(records));

describe('a compaction', () => {
  it('without a compaction, the records do not change', () => {
    const records = [...turn(0), ...turn(1)];
    expect(compacted(records)).toBe(records);
  });

  it('replaces the turns of a summary by one request and one answer', () => {
    const records = [...turn(0), ...turn(1), overlay(0, 1, { summary: { summary: 'both ran' } }), ...turn(2)];
    const seen = compacted(records);
    expect(seen.slice(0, 2)).toEqual([
      { type: 'chat_request', content: SUMMARY_REQUEST, source: 'user' },
      { type: 'chat_response', message: 'both ran' },
    ]);
    expect(JSON.stringify(seen)).not.toMatch(/(?:question|answer|result) [01]/);
    expect(seen.slice(2)).toEqual(turn(2));
  });

  it('does not apply to later turns, even if its range includes these turns', () => {
    const records = [...turn(0), overlay(0, 99, { summary: 'the first' }), ...turn(1)];
    expect(texts(records)).toContain('question 1');
    expect(texts(records)).not.toContain('question 0');
  });

  it('is replaced by a newer compaction, separately for each kind of content', () => {
    const records = [
      ...turn(0),
      ...turn(1),
      overlay(0, 0, { summary: 'old words' }),
      overlay(0, 1, { reasoning: 'strip', tool_calls: { policy: 'strip', request: true, response: true } }),
      overlay(0, 0, { summary: 'new words' }),
    ];
    const seen = texts(records);
    expect(seen).toContain('new words');
    expect(seen).not.toContain('old words');
    expect(seen).not.toContain('thinking 1');
    expect(seen).toContain('[compacted] run: error');
    expect(seen).toContain('answer 1');
  });

  it('strips or omits only content that is larger than its threshold', () => {
    const small = texts([
      ...turn(0),
      overlay(0, 0, { tool_calls: { policy: 'strip', request: true, response: true, over: 50 } }),
    ]);
    expect(small).toContain('result 0');
    expect(small).toContain('"arguments":{}');
    const omitted = texts([
      ...turn(0),
      overlay(0, 0, { tool_calls: { policy: 'omit' }, reasoning: { policy: 'strip', over: 1_000 } }),
    ]);
    expect(omitted).not.toContain('tool_call');
    expect(omitted).toContain('thinking 0');
  });
});
