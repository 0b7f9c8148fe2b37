import fc from 'fast-check';
import { expect, it } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { isGone, numbersBelow, without, type Board } from './board.ts';

it('stores the numbers of removed tasks in as few ranges as possible', () => {
  const board = without(without({ next: 12, open: ['t5'] }, [1, 2, 4]), [3, 9]);
  expect(board).toEqual({
    next: 12,
    open: ['t5'],
    gone: [
      [1, 4],
      [9, 9],
    ],
  });
  expect([...numbersBelow(board, 100)]).toEqual([11, 10, 8, 7, 6, 5]);
  expect([...numbersBelow(board, 8)]).toEqual([7, 6, 5]);
  expect([...numbersBelow(board, 5)]).toEqual([]);
  expect([4, 5, 9, 10].map((n) => isGone(board, n))).toEqual([true, false, true, false]);
});

it('lists the tasks that were not removed, after any removals', () => {
  proves('tasks:retention');
  fc.assert(
    fc.property(fc.array(fc.array(fc.integer({ min: 1, max: 30 }))), fc.integer({ min: 1, max: 40 }), (rounds, below) => {
      let board: Board = { next: 31, open: [] };
      for (const round of rounds) board = without(board, round);
      const all = new Set(rounds.flat());
      const there = Array.from({ length: 30 }, (_, i) => 30 - i).filter((n) => !all.has(n) && n < below);
      expect([...numbersBelow(board, below)]).toEqual(there);
      expect(Array.from({ length: 30 }, (_, i) => i + 1).filter((n) => isGone(board, n))).toEqual(
        [...all].toSorted((a, b) => a - b),
      );
    }),
  );
});
