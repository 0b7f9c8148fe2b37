import { describe, expect, it } from 'vitest';
import { cut, table, widthOf, type Column } from './table.ts';

const LAYOUT: readonly Column[] = [
  { head: 'level' },
  { head: 'id' },
  { head: 'queued', spare: 1 },
  { head: 'kind', spare: 0 },
  { head: 'message' },
];
const ROWS = [
  ['info', 'n_1', '3 s ago', 'ci.failed', 'CI failed on main, in the step that nobody ever looks at'],
  ['critical', 'n_22', '12 min ago', 'user.message', 'stop'],
];
const linesAt = (width: number): string[] => table(ROWS, LAYOUT, { width }).split('\n');

describe('a table', () => {
  it('is aligned, and not cut if the width is unknown', () => {
    expect(linesAt(Number.POSITIVE_INFINITY)).toEqual([
      'level     id    queued      kind          message',
      'info      n_1   3 s ago     ci.failed     CI failed on main, in the step that nobody ever looks at',
      'critical  n_22  12 min ago  user.message  stop',
    ]);
  });

  it('cuts its last column to the width', () => {
    expect(linesAt(70)).toEqual([
      'level     id    queued      kind          message',
      'info      n_1   3 s ago     ci.failed     CI failed on main, in the s…',
      'critical  n_22  12 min ago  user.message  stop',
    ]);
  });

  it('leaves out spare columns before the last column becomes unreadable, the lowest `spare` number first', () => {
    expect(linesAt(50)[0]).toBe('level     id    queued      message');
    expect(linesAt(40)[0]).toBe('level     id    message');
  });

  it('moves the last column below the row if dropping columns is not enough', () => {
    expect(linesAt(30)).toEqual([
      'level     id    queued',
      'info      n_1   3 s ago',
      '    CI failed on main, in the…',
      'critical  n_22  12 min ago',
      '    stop',
    ]);
  });

  it.each([60, 80, 120])('is never wider than %i columns', (width) => {
    for (const line of linesAt(width)) expect(widthOf(line)).toBeLessThanOrEqual(width);
  });

  it('leaves out a column without content', () => {
    expect(table([['a', '', 'b']], [{}, {}, {}])).toBe('a  b');
  });

  it('aligns the columns of several tables that look like one table', () => {
    const atLeast: number[] = [];
    table([['long one', 'x']], [{}, {}], { atLeast });
    expect(table([['short', 'y']], [{}, {}], { atLeast })).toBe('short     y');
  });
});

describe('width', () => {
  it.each([
    ['abc', 3],
    ['日本語', 6],
    ['한글', 4],
    ['🚀', 2],
    ['👩‍👩‍👧', 2],
    ['e\u0301', 1],
    ['\u001b[31mred\u001b[39m', 3],
    ['○ △ ▲ ■ …', 9],
  ])('%s needs %i columns', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });

  it('aligns columns after wide characters', () => {
    expect(
      table(
        [
          ['日本', 'x'],
          ['abcd', 'y'],
        ],
        [{}, {}],
      ),
    ).toBe('日本  x\nabcd  y');
  });

  it.each([
    ['日本語です', 7, '日本語…'],
    ['日本語です', 6, '日本…'],
    ['abcdef', 6, 'abcdef'],
    ['abcdefg', 6, 'abcde…'],
    ['\u001b[31mabcdefg\u001b[39m', 4, '\u001b[31mabc…\u001b[0m'],
    ['👩‍👩‍👧👩‍👩‍👧', 3, '👩‍👩‍👧…'],
  ])('%j is cut to %i columns', (text, width, cutTo) => {
    expect(cut(text, width)).toBe(cutTo);
  });
});
