import { describe, expect, it } from 'vitest';
import { median, percentile, versus } from './rounds.ts';
import { missed } from './row.ts';
import { isMissed, table, type Line } from './table.ts';

describe('percentiles', () => {
  it.each([
    { values: [], percent: 50, expected: Number.NaN },
    { values: [7], percent: 99, expected: 7 },
    { values: [10, 9, 1], percent: 50, expected: 9 },
    { values: Array.from({ length: 1000 }, (_, i) => i + 1), percent: 99.9, expected: 999 },
    { values: [2, 100, 30], percent: 100, expected: 100 },
  ])('$percent of $values.length values', ({ values, percent, expected }) => {
    expect(percentile(values, percent)).toBe(expected);
  });
});

describe('two sides', () => {
  it('take turns, each round begun by the other, and the first round does not count', async () => {
    const order: string[] = [];
    const side = (name: string, figures: readonly number[]) => (round: number) => {
      order.push(`${name}${round}`);
      return figures[round] ?? 1000;
    };
    const measured = await versus({
      ours: side('ours', [10, 20, 90]),
      theirs: side('theirs', [10, 10, 30]),
      unit: '/s',
      rounds: 3,
    });
    expect(order).toEqual(['theirs-1', 'ours-1', 'ours0', 'theirs0', 'theirs1', 'ours1', 'ours2', 'theirs2']);
    // Neighbours are compared: the median of 1, 2 and 3, not 20 against 10.
    expect(measured.figures['ratio']?.value).toBe(2);
    expect(measured.ours?.value).toBe(median([10, 20, 90]));
  });
});

describe('the bar', () => {
  it('is missed by what is too low, too high, not equal, or not measured', () => {
    const figures = {
      ratio: { value: 0.59, unit: '' },
      p99: { value: 51, unit: 'ms' },
      lost: { value: 1, unit: 'records' },
    } as const;
    const bar = [
      { figure: 'ratio', is: '>=', value: 0.6 },
      { figure: 'p99', is: '<=', value: 50 },
      { figure: 'lost', is: '=', value: 0 },
      { figure: 'max', is: '<=', value: 1 },
    ] as const;
    expect(missed(bar, figures)).toEqual(bar);
    expect(missed([{ figure: 'ratio', is: '>=', value: 0.59 }], figures)).toEqual([]);
  });

  it('shows in the table, and a row that failed counts as missed', () => {
    const row = { name: 'queue', what: 'queue against insert', bar: [{ figure: 'ratio', is: '>=', value: 0.6 }] } as const;
    const good: Line = {
      row,
      outcome: {
        kind: 'measured',
        seconds: 1,
        ours: { value: 12_345, unit: '/s' },
        theirs: { value: 15.25, unit: '/s' },
        figures: { ratio: { value: 0.6, unit: '' } },
      },
    };
    const bad: Line = { row: { ...row, name: 'lost' }, outcome: { kind: 'failed', why: 'its process ended' } };
    expect([good, bad].map(isMissed)).toEqual([false, true]);
    expect(table([good, bad])).toBe(
      [
        '| row   | ours     | theirs | ratio | bar      |        |',
        '|-------|----------|--------|-------|----------|--------|',
        '| queue | 12,345/s | 15.3/s | 0.60  | >= 0.6 x | ok     |',
        '| lost  |          |        |       | >= 0.6 x | FAILED |',
      ].join('\n'),
    );
  });
});
