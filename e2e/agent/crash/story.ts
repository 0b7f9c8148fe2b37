/**
 * Plays the model's side of a talk of 20 tool calls, in which the agent is killed repeatedly. Each answer depends only on the
 * latest request.
 */
import type { Policy } from '../../../src/core/policy.ts';
import type { Part } from '../../model/answer.ts';
import type { Request, Step } from '../../model/server.ts';
import { textsOf } from '../../model/texts.ts';

export const ADDRESS = 'shop/coder#main';

/** A policy under which the running turn delivers every notification as it was queued, so that a test can count ids. */
export const CRASH_POLICY: Partial<Policy> = {
  coalesceMs: {},
  maxItems: 10_000,
  maxTokens: 1_000_000,
  wake: { info: 'never', warning: 'never', error: 'never', critical: 'never' },
};

/** The number of calls in each answer, 20 calls in total. */
const BATCHES = [1, 2, 1, 3, 1, 2, 1, 1, 3, 2, 1, 2];
export const CALLS = BATCHES.reduce((sum, calls) => sum + calls, 0);

/**
 * Chooses the next answer by the number of results in the request. If only a part of a batch was kept, the answer has the other
 * calls of the batch.
 */
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
