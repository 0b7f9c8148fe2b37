import { describe, expect, it } from 'vitest';
import { excerpt, GAP } from './excerpt.ts';

const filler = (what: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${what} ${n}`);

describe('the excerpt of an output', () => {
  it('has the last lines if the command succeeded or printed no failure', () => {
    const lines = filler('line', 50);
    expect(excerpt(lines, 5, false)).toEqual(lines.slice(-5));
    expect(excerpt(lines, 5, true)).toEqual(lines.slice(-5));
    expect(excerpt(lines, 80, true)).toEqual(lines);
    expect(excerpt(lines, 0, true)).toEqual([]);
  });

  it('has at most 16,000 characters', () => {
    const lines = Array.from({ length: 200 }, (_, n) => `${n} ${'x'.repeat(390)}`);
    const said = excerpt(lines, 200, true);
    expect(said.join('').length).toBeLessThanOrEqual(16_000);
    expect(said.at(-1)).toBe(lines.at(-1));
  });

  it.each([
    ['vitest', ['⎯⎯⎯ Failed Tests 1 ⎯⎯⎯', ' FAIL  cart.test.ts > rounds', 'AssertionError: expected 3 to be 4']],
    ['node --test', ['✖ failing tests:', 'test at cart.test.js:3:1', '✖ rounds (1.2ms)', '  AssertionError: 3 !== 4']],
    ['jest', ['  ● cart › rounds', '    expect(received).toBe(expected)', '    Expected: 4']],
    ['pytest', ['=========== FAILURES ===========', '____ test_rounds ____', 'E       assert 3 == 4']],
    ['cargo', ["thread 'rounds' panicked at src/cart.rs:3:5:", 'assertion failed: 3 == 4', 'note: run with RUST_BACKTRACE=1']],
    [
      'tsc',
      ["a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.", '1 const a: number = "x";', '        ~'],
    ],
  ])('keeps the name and the assertion of a failure, and the end: %s', (_runner, failure) => {
    const end = filler('end', 3);
    const lines = [...filler('✔ passes', 100), ...failure, ...filler('    at frame', 60), ...end];
    const said = excerpt(lines, 20, true);
    expect(said).toHaveLength(20);
    expect(said.slice(0, failure.length)).toEqual(failure);
    expect(said).toContain(GAP);
    expect(said.slice(-3)).toEqual(end);
  });
});
