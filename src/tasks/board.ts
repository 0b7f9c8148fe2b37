/** The board of a project: its open tasks, the next task number, and the numbers of removed tasks. */

/**
 * `next`: the number of the next task. `open`: the ids of the tasks that have not ended or still need a report. `gone`: the
 * numbers of removed tasks, as ranges with inclusive ends, lowest first.
 */
export type Board = {
  readonly next: number;
  readonly open: readonly string[];
  readonly gone?: readonly (readonly [number, number])[];
};

export const EMPTY: Board = { next: 1, open: [] };

export const idOf = (number: number): string => `t${number}`;

/** Yields the numbers of existing tasks below the given number, highest first. */
export function* numbersBelow(board: Board, below: number): Iterable<number> {
  const gone = board.gone ?? [];
  let range = gone.length - 1;
  for (let number = Math.min(below, board.next) - 1; number >= 1; number--) {
    while ((gone[range]?.[0] ?? 0) > number) range--;
    const [from, to] = gone[range] ?? [0, 0];
    if (number <= to) number = from;
    else yield number;
  }
}

export const isGone = ({ gone = [] }: Board, number: number): boolean =>
  gone.some(([from, to]) => from <= number && number <= to);

/** Returns the board with these task numbers in `gone`. */
export function without(board: Board, numbers: readonly number[]): Board {
  const ranges = [...(board.gone ?? []), ...numbers.map((n) => [n, n] as const)].toSorted((a, b) => a[0] - b[0]);
  const gone: [number, number][] = [];
  for (const [from, to] of ranges) {
    const last = gone.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else gone.push([from, to]);
  }
  return { ...board, gone };
}
