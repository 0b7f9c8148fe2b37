import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import { OpenProblems } from './rounds.ts';

const STARTS = '10:32:01 - File change detected. Starting incremental compilation...';
const ends = (count: number): string => `10:32:02 - Found ${count} error${count === 1 ? '' : 's'}. Watching for file changes.`;
const wrong = (file: string): string => `${file}(1,7): error TS2322: Type 'string' is not assignable to type 'number'.`;

function open(...lines: readonly (string | undefined)[]): readonly string[] {
  const problems = new OpenProblems();
  for (const line of lines) {
    if (line === undefined) problems.silent();
    else problems.read(line);
  }
  return [...problems.open().values()].map(
    ({ problem, count }) => `${problem.file ?? problem.message}${count > 1 ? ` x${count}` : ''}`,
  );
}

describe('the problems of a program that keeps running', () => {
  proves('follow:problems');

  it('are those of the last round: after two of three files are fixed, one problem is open', () => {
    const first = [STARTS, wrong('a.ts'), wrong('b.ts'), wrong('c.ts'), ends(3)];
    expect(open(...first)).toEqual(['a.ts', 'b.ts', 'c.ts']);
    expect(open(...first, STARTS, wrong('b.ts'), ends(1))).toEqual(['b.ts']);
    expect(open(...first, STARTS, wrong('b.ts'), ends(1), STARTS, ends(0))).toEqual([]);
  });

  it('stay open while the next round runs, and its own problems are added at once', () => {
    expect(open(STARTS, wrong('a.ts'), ends(1), STARTS, wrong('b.ts'))).toEqual(['a.ts', 'b.ts']);
  });

  it('stay the same if lines above are added, and count their repetitions in a round', () => {
    const moved = "a.ts(9,7): error TS2322: Type 'string' is not assignable to type 'number'.";
    expect(open(STARTS, wrong('a.ts'), moved, ends(2))).toEqual(['a.ts x2']);
  });

  it('end with an update of vite without errors, and with a silent restart', () => {
    const vite = '10:32:01 AM [vite] Internal server error: Unexpected token';
    expect(open(vite, '  File: /shop/a.ts:1:2')).toEqual(['/shop/a.ts']);
    expect(open(vite, '  File: /shop/a.ts:1:2', '10:32:09 AM [vite] (client) hmr update /src/a.ts')).toEqual([]);
    const thrown = ['TypeError: no', '    at handle (/shop/a.js:3:7)'];
    expect(open(...thrown, undefined)).toEqual(['/shop/a.js']);
    expect(open(...thrown, "Restarting 'a.js'", undefined)).toEqual([]);
    expect(open(...thrown, "Restarting 'a.js'", ...thrown, undefined)).toEqual(['/shop/a.js']);
  });

  it('are without warnings, and at most 500 of one tool', () => {
    expect(open('cart.c:4:1: warning: unused')).toEqual([]);
    expect(open(...Array.from({ length: 700 }, (_, i) => wrong(`f${i}.ts`)))).toHaveLength(500);
  });
});
