/** The talk of 20 tool calls that is killed again and again: the model's side, which knows only the request before it. */
import type { Policy } from '../../../src/core/policy.ts';
import type { Part } from '../../model/answer.ts';
import type { Request, Step } from '../../model/server.ts';
import { textsOf } from '../../model/texts.ts';

export const ADDRESS = 'shop/coder#main';

/** Everything is delivered as it was queued, by the turn that runs: what is counted is ids. */
export const CRASH_POLICY: Partial<Policy> = {
  coalesceMs: {},
  maxItems: 10_000,
  maxTokens: 1_000_000,
  wake: { info: 'never', warning: 'never', error: 'never', critical: 'never' },
};

/** Calls of each answer: 20. */
const BATCHES = [1, 2, 1, 3, 1, 2, 1, 1, 3, 2, 1, 2];
export const CALLS = BATCHES.reduce((sum, calls) => sum + calls, 0);

/** What follows from how many results the request has; a batch of which only a part was kept is gone on with. */
export function storyStep(request: Request): Step {
  const results = resultsIn(request);
  let begin = 0;
  for (const calls of BATCHES) {
    if (results < begin + calls) return { says: answer(results, begin + calls) };
    begin += calls;
  }
  return { says: [{ kind: 'text', text: 'all of it is done' }] };
}

const answer = (from: number, to: number): Part[] => [
  { kind: 'reasoning', text: 'what is next' },
  { kind: 'text', text: `on with ${from}` },
  ...Array.from({ length: to - from }, (_, i): Part => ({
    kind: 'call',
    id: `call_${from + i}`,
    name: 'work',
    args: { at: from + i },
  })),
];

export const resultsIn = (request: Request): number =>
  new Set(textsOf(request).flatMap(({ result }) => (result ? [result.no] : []))).size;
