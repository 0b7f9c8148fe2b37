import { describe, expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import type { Problem } from '../problems/index.ts';
import { eventOf, type Ended, type Outcome } from './outcome.ts';

const ended = (outcome: Outcome, more: Partial<Ended> = {}): ReturnType<typeof eventOf> =>
  eventOf({
    command: 'npm',
    args: ['test'],
    cwd: '/home/ann/shop',
    subject: 'shop/coder',
    outcome,
    durationMs: 12_345,
    lastLines: [],
    levelOnFailure: 'error',
    ...more,
  });

const exited = (code: number): Outcome => ({ kind: 'exited', code, timedOut: false });

describe('the event about a command', () => {
  proves('sources:processes');

  it.each<[Outcome, string, string]>([
    [exited(0), 'process.ended', '`npm test` succeeded after 12 s'],
    [exited(1), 'process.failed', '`npm test` failed with exit code 1 after 12 s'],
    [{ kind: 'killed', signal: 'SIGKILL', timedOut: false }, 'process.failed', '`npm test` was ended by SIGKILL after 12 s'],
    [{ kind: 'killed', signal: 'SIGPIPE', timedOut: false }, 'process.failed', '`npm test` was ended by SIGPIPE after 12 s'],
    [
      { kind: 'killed', signal: 'SIGPIPE', timedOut: false, readerClosed: true },
      'process.ended',
      '`npm test` ended after 12 s, because the reader of its output closed',
    ],
    [
      { kind: 'exited', code: 141, timedOut: false, readerClosed: true },
      'process.ended',
      '`npm test` ended after 12 s, because the reader of its output closed',
    ],
    [
      { kind: 'exited', code: 1, timedOut: false, readerClosed: true },
      'process.failed',
      '`npm test` failed with exit code 1 after 12 s',
    ],
    [{ kind: 'killed', signal: 'SIGTERM', timedOut: true }, 'process.failed', '`npm test` was ended after 12 s, its time limit'],
    [{ kind: 'exited', code: 0, timedOut: true }, 'process.failed', '`npm test` was ended after 12 s, its time limit'],
    [
      { kind: 'not_started', code: 127, reason: 'the command does not exist' },
      'process.failed',
      '`npm test` could not be started: the command does not exist',
    ],
  ])('has the type, severity and message of the outcome %j', (outcome, type, message) => {
    expect(ended(outcome)).toMatchObject({ type, message, severity: type === 'process.ended' ? 'info' : 'error' });
  });

  it('the data has every detail', () => {
    expect(ended({ kind: 'killed', signal: 'SIGSEGV', timedOut: false }, { lastLines: ['a', 'b'], name: 'tests' }).data).toEqual({
      command: 'npm test',
      exit_code: null,
      signal: 'SIGSEGV',
      duration_ms: 12_345,
      last_lines: ['a', 'b'],
      cwd: '/home/ann/shop',
      name: 'tests',
    });
    expect(ended(exited(3), { levelOnFailure: 'critical' }).severity).toBe('critical');
  });

  it.each<[string, number, readonly string[], string]>([
    [
      'vitest',
      1,
      [
        ' FAIL  a.test.ts > adds',
        'AssertionError: expected 3 to be 4',
        ' ❯ a.test.ts:3:17',
        ' Test Files  1 failed (1)',
        '      Tests  1 failed | 2 passed (3)',
        '   Start at  10:00:00',
        '   Duration  300ms',
      ],
      'a.test.ts > adds: AssertionError: expected 3 to be 4 (a.test.ts:3:17)',
    ],
    ['node --test', 1, ['✖ adds (1.2ms)', 'ℹ tests 2', 'ℹ pass 1', 'ℹ fail 1', 'ℹ cancelled 0', 'ℹ duration_ms 50'], 'ℹ fail 1'],
    [
      'node --test that npm runs',
      1,
      ['ℹ fail 1', 'npm error Lifecycle script `test` failed with error:', 'npm error code 1'],
      'ℹ fail 1',
    ],
    [
      'npx',
      127,
      ['sh: 1: no-such: not found', 'npm notice', 'npm notice New major version of npm available!'],
      'sh: 1: no-such: not found',
    ],
    [
      'tsc',
      2,
      ["a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.", '', 'Found 1 error in a.ts:1'],
      "TS2322: Type 'string' is not assignable to type 'number'. (a.ts:1:7)",
    ],
    ['not the line with the count 0', 1, ['Tests 0 failed', 'coverage below 80 %'], 'coverage below 80 %'],
    ['a successful command', 0, ['3 failed before, 0 now', 'all good', '======'], 'all good'],
    ['the only line, although it has no words', 0, ['---'], '---'],
  ])('the message has the most informative line: %s', (_what, code, lastLines, said) => {
    expect(ended(exited(code), { lastLines }).message?.split(/after 12 s: /u)[1]).toBe(said);
  });

  it('errors that were reported before are only counted', () => {
    const lastLines = ['Test Files  1 failed (1)'];
    expect(ended(exited(1), { lastLines, problems: [], reported: 2 }).message).toBe(
      '`npm test` failed with exit code 1 after 12 s: Test Files  1 failed (1); 2 reported errors are still open',
    );
    expect(ended(exited(1), { reported: 1 }).message).toBe(
      '`npm test` failed with exit code 1 after 12 s; 1 reported error is still open',
    );
  });

  it('a name replaces the command line, which is otherwise quoted and cut', () => {
    expect(ended(exited(0), { name: 'the build' }).message).toBe('the build succeeded after 12 s');
    const long = ended(exited(0), { args: ['it\'s "a" test', 'x'.repeat(5_000)] });
    expect(long.message?.length).toBeLessThan(200);
    expect(long.data?.['command']).toMatch(/^npm 'it'\\''s "a" test' x+…$/u);
  });

  it.each([
    [350, '350 ms'],
    [59_400, '59 s'],
    [120_000, '2 min'],
    [125_000, '2 min 5 s'],
    [3_780_000, '1 h 3 min'],
    [7_200_000, '2 h'],
  ])('%i ms are %s', (durationMs, words) => {
    expect(ended(exited(0), { durationMs }).message).toBe(`\`npm test\` succeeded after ${words}`);
  });

  it('the same command in the same folder has one key, so that its newest outcome replaces older outcomes', () => {
    const key = ended(exited(1)).key;
    expect(ended(exited(0))).toMatchObject({ key, supersede: true });
    expect(ended(exited(0), { args: ['run', 'build'] }).key).not.toBe(key);
    expect(ended(exited(0), { cwd: '/elsewhere' }).key).not.toBe(key);
    expect(key?.length).toBeLessThan(64);
  });

  it('the message says "at least" if the output may have more problems than the limit of 500', () => {
    const problems = (count: number): readonly Problem[] =>
      Array.from({ length: count }, (_, i) => ({ tool: 'tsc', severity: 'error', message: `no ${i}` }));
    expect(ended(exited(1), { problems: problems(499) }).message).toMatch(/no 0 and 498 more$/u);
    expect(ended(exited(1), { problems: problems(500) }).message).toMatch(/no 0 and at least 499 more$/u);
  });
});
