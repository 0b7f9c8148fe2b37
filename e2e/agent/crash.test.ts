/**
 * Kills the agent with `kill -9` at each named point and at random, and resumes it each time. `scripts/agent-crash.ts` runs the
 * same test for longer.
 */
import { describe, expect, it } from 'vitest';
import { AGENT_FAULT_POINTS, type FaultPoint } from '../../src/core/faults.ts';
import type { Draft } from '../../src/core/records.ts';
import { proves } from '../verifies.ts';
import { APIS } from './apis.ts';
import { problemsOf, type Lived } from './crash/checker.ts';
import { randomKill, runKilled, seeded, type Kill } from './crash/run.ts';

const POINTS: readonly FaultPoint[] = [...AGENT_FAULT_POINTS, 'append.record_written', 'append.committed'];

/**
 * For each random kill, the number of requests after which the agent's process is killed. The talk has at least twelve requests,
 * so the talk continues after the last kill.
 */
const LIVES = [1, 2, 1, 2];

describe('an agent that is killed at a named point and at four random points', () => {
  proves('agent:kill-9');
  it.each(APIS.map((api, i) => [api, POINTS[i] as FaultPoint] as const))(
    '%s, %s: each restart continues, and no notification is lost',
    async (api, point) => {
      const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000);
      const chance = seeded(seed);
      const kills: Kill[] = [{ kind: 'point', point, times: 3 }, ...LIVES.map((times) => randomKill(chance, times))];
      const { problems, killed, queued } = await runKilled(api, kills);
      expect(problems, `CRASH_SEED=${seed}`).toEqual([]);
      expect(killed).toBe(kills.length);
      expect(queued).toBeGreaterThan(20);
    },
    120_000,
  );
});

describe('the checker', () => {
  const note = (id: string): object => ({ id, kind: { source: 'ci', name: 'told' }, message: `${id}.` });
  const records = [
    { type: 'chat_request', content: 'go', notifications: [note('a')] },
    { type: 'tool_call_request', id: 'call_1', name: 'work', arguments: {} },
    { type: 'tool_call_response', id: 'call_1', content: 'done', is_error: false, notifications: [note('b')] },
  ] as unknown as readonly Draft[];
  const user = { role: 'user', content: 'go' };
  const told = (text: string): object => ({ role: 'system', content: text });
  const called = {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'work', arguments: '{}' } }],
  };
  const result = { role: 'tool', tool_call_id: 'call_1', content: 'done' };
  const requests = (...all: readonly (readonly object[])[]): Lived['requests'] =>
    all.map((messages, i) => ({ n: i + 1, path: '/v1/chat/completions', body: { messages } })) as unknown as Lived['requests'];
  const whole = requests([user, told('a.')], [user, told('a.'), called, result, told('b.')]);
  const lived: Lived = { records, requests: whole, queued: ['a', 'b'] };

  it.each<[string, Partial<Lived>, RegExp | undefined]>([
    ['nothing wrong', {}, undefined],
    ['lost', { queued: ['a', 'b', 'c'] }, /c is 0 times in the transcript/],
    ['twice', { records: [...records, records[0] as Draft] }, /a is 2 times in the transcript/],
    ['a call without a result', { records: records.slice(0, 2), queued: ['a'] }, /call_1 is called 1 and answered 0 times/],
    ['not in the request', { requests: requests([user, told('a.')]) }, /the model reads b 0 times/],
    [
      'a changed prefix',
      { requests: [...whole, ...requests([{ ...user, content: 'Go' }, told('a.'), called, result, told('b.')])] },
      /part 0 otherwise/,
    ],
    ['a shorter request', { requests: [...whole, ...whole.slice(0, 1)] }, /\(gone\)/],
    [
      'a request that the API would refuse',
      { requests: requests([user, told('a.'), called, told('b.'), result]) },
      /chat:calls-answered/,
    ],
  ])('gives the correct verdict: %s', (_, more, problem) => {
    const problems = problemsOf({ ...lived, ...more }).join('\n');
    if (problem === undefined) expect(problems).toBe('');
    else expect(problems).toMatch(problem);
  });
});
