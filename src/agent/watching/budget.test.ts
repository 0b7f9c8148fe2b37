import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { Budget, type BudgetOptions } from './budget.ts';

const budget = (options: BudgetOptions & { iterations?: number }): Budget => {
  const made = new Budget({ iterations: 1_000, ...options });
  made.begin(0);
  return made;
};
const use = (of: Budget, tokens: number): void => of.answered({ inputTokens: tokens - 1, outputTokens: 1 });
const types = (of: Budget, now = 0): string[] => of.reached(now).map(({ type }) => type);

describe('the budget of a turn', () => {
  proves('sources:thresholds');

  it.each([
    ['tokens', { tokens: 100 }, [79, 1, 5], [[], ['budget.token.warning'], []]],
    ['tokens, by its own threshold', { tokens: 100, warnAt: { tokens: 0.5 } }, [50], [['budget.token.warning']]],
    [
      'exactly the limit is not exceeded',
      { tokens: 100, warnAt: { tokens: 1 } },
      [100, 1],
      [['budget.token.warning'], ['budget.token.exceeded']],
    ],
    [
      'a warning and an exceeded limit at once are reported as the exceeded limit only',
      { tokens: 100 },
      [150, 1],
      [['budget.token.exceeded'], []],
    ],
    ['context', { contextTokens: 100 }, [69, 70, 90], [[], ['context.approaching_limit'], []]],
    ['several at once', { tokens: 100, contextTokens: 100 }, [80], [['budget.token.warning', 'context.approaching_limit']]],
    ['no limit', {}, [1_000_000], [[]]],
  ] as const)('%s', (_what, options, used, expected) => {
    const made = budget(options);
    expect(
      used.map((tokens) => {
        use(made, tokens);
        return types(made);
      }),
    ).toEqual(expected);
  });

  it('warns at 70 % of the iterations, even if the provider does not count tokens', () => {
    const made = budget({ iterations: 10 });
    const seen = Array.from({ length: 10 }, () => {
      made.answered(undefined);
      return types(made).length;
    });
    expect(seen).toEqual([0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    expect(made.outOfIterations()).toMatchObject({
      type: 'budget.iteration.exceeded',
      severity: 'critical',
      message: 'The last turn was ended after 10 requests to the model, the maximum',
    });
  });

  it('warns at 80 % of the time, once', () => {
    const made = budget({ timeoutMs: 60_000 });
    expect(made.reached(47_999)).toEqual([]);
    expect(made.reached(48_000)).toMatchObject([
      {
        type: 'budget.timeout.warning',
        message: 'This turn has taken 48 s of 60 s (80 %); 12 s are left',
        data: { elapsed_seconds: 48, limit_seconds: 60, remaining_seconds: 12, budget_type: 'timeout' },
      },
    ]);
    expect(made.reached(59_000)).toEqual([]);
  });

  it('the data gives a number under each of its field names', () => {
    const made = budget({ tokens: 10_000, contextTokens: 9_000 });
    use(made, 8_200);
    expect(made.reached(0)).toEqual([
      {
        type: 'budget.token.warning',
        severity: 'warning',
        message: '8,200 of 10,000 tokens of this turn are used (82 %); 1,800 are left',
        data: {
          budget_type: 'token',
          current: 8_200,
          limit: 10_000,
          max: 10_000,
          remaining: 1_800,
          percentage: 82,
          percent: 82,
          message: '8,200 of 10,000 tokens of this turn are used (82 %); 1,800 are left',
        },
      },
      expect.objectContaining({
        type: 'context.approaching_limit',
        data: expect.objectContaining({ current_tokens: 8_200, max_tokens: 9_000, remaining_tokens: 800, percent: 91 }) as object,
      }),
    ]);
  });

  it('reports each limit once per turn, and again in the next turn', () => {
    const made = budget({ tokens: 100, iterations: 1 });
    use(made, 90);
    expect(types(made)).toHaveLength(2);
    made.begin(0);
    expect(made.overspent).toBe(false);
    expect(types(made)).toEqual([]);
    use(made, 90);
    expect(types(made)).toHaveLength(2);
  });

  it('the end of a turn reports a nearly full context but no budget warning, and the next turn does not repeat the report', () => {
    const made = budget({ tokens: 100, contextTokens: 100 });
    use(made, 90);
    expect(made.reachedLate(0).map(({ type }) => type)).toEqual(['context.approaching_limit']);
    made.begin(0);
    use(made, 95);
    expect(types(made)).toEqual(['budget.token.warning']);
    made.begin(0);
    use(made, 96);
    expect(types(made)).toContain('context.approaching_limit');
  });

  it.each([
    [{ tokens: 0 }, 'budget.tokens must be a number above 0, got 0; leave the option out for no limit'],
    [{ timeoutMs: Number.NaN }, 'budget.timeoutMs must be a number above 0, got NaN; leave the option out for no limit'],
    [{ warnAt: { time: 80 } }, 'budget.warnAt.time must be above 0 and at most 1, got 80'],
  ])('%j is refused', (options, message) => {
    expect(() => budget(options)).toThrow(message);
  });
});
