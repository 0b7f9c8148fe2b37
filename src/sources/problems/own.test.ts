import { expect, it } from 'vitest';
import { proves } from '../../../e2e/verifies.ts';
import type { MatcherForm } from '../../core/matcher-form.ts';
import { matchersWith } from './own.ts';
import { sayProblem } from './problem.ts';
import { problemsIn } from './reader.ts';
import { OpenProblems } from './rounds.ts';

const LINT: MatcherForm = {
  pattern: [
    { regexp: String.raw`^((?:[a-zA-Z]:)*[./\\]+.*?)\s*$`, file: 1 },
    {
      regexp: String.raw`^\s+(\d+):(\d+)\s+(error|warning|info)\s+(.+?)(?:\s\s+(.*))?$`,
      line: 1,
      column: 2,
      severity: 3,
      message: 4,
      code: 5,
      loop: true,
    },
  ],
};
const one = (regexp: string, more: object = {}): MatcherForm => ({ pattern: [{ regexp, message: 1, ...more }] });

it("a user's matcher in the form of VS Code reads lines before the shipped matchers", () => {
  proves('follow:matchers');
  const { matchers } = matchersWith({ lint: LINT });
  const lines = ['./a.foo', '  1:7  error  no price  rule/a', '  2:1  info  no name', './b.foo', '  3:1  error  no cart', 'done'];
  expect(problemsIn(lines, matchers).map((each) => `${each.tool} ${each.severity}: ${sayProblem(each)}`)).toEqual([
    'lint error: rule/a: no price (./a.foo:1:7)',
    'lint warning: no name (./a.foo:2:1)',
    'lint error: no cart (./b.foo:3:1)',
  ]);
  const tsc = 'a.ts(1,7): error TS2322: no.';
  expect(problemsIn([tsc], matchers)[0]).toMatchObject({ tool: 'tsc' });
  expect(problemsIn([tsc], matchersWith({ mine: one('error (.+)$') }).matchers)).toMatchObject([
    { tool: 'mine', message: 'TS2322: no.' },
  ]);
  expect(problemsIn(['x: y'], matchersWith({ mine: { severity: 'warning', ...one('^x: (.+)$') } }).matchers)).toMatchObject([
    { severity: 'warning', message: 'y' },
  ]);
  expect(problemsIn(['ERROR x'], matchersWith({ mine: one('^ERROR (.+)$', { message: 0 }) }).matchers)).toMatchObject([
    { message: 'ERROR x' },
  ]);
});

it('the severity in a line overrides the severity of its matcher', () => {
  proves('follow:matchers');
  // This form is the example of docs/config.md.
  const form: MatcherForm = {
    severity: 'error',
    pattern: [
      { regexp: String.raw`^(\S+\.\w+)$`, file: 1 },
      {
        regexp: String.raw`^ +(\d+):(\d+) +(error|warning) +(.+?)(?:  +(\S+))?$`,
        line: 1,
        column: 2,
        severity: 3,
        message: 4,
        code: 5,
        loop: true,
      },
    ],
  };
  const lines = ['src/x.c', '  1:2  error  bad thing  no-bad', '  3:4  warning  meh', '', 'y.c', '  7:8  error  worse2'];
  const read = (each: MatcherForm, text: readonly string[]): readonly string[] =>
    problemsIn(text, matchersWith({ lint: each }).matchers).map((found) => `${found.severity}: ${sayProblem(found)}`);
  const expected = ['error: no-bad: bad thing (src/x.c:1:2)', 'warning: meh (src/x.c:3:4)', 'error: worse2 (y.c:7:8)'];
  expect(read(form, lines)).toEqual(expected);
  expect(read({ ...form, severity: 'warning' }, lines)).toEqual(expected);
  const open = new OpenProblems(matchersWith({ lint: form }).matchers);
  for (const line of lines) open.read(line);
  open.silent();
  expect([...open.open().values()].map(({ problem }) => problem.message)).toEqual(['bad thing', 'worse2']);
  // A line may lack the severity.
  const some = { pattern: [{ regexp: '^x: (?:(error|warning) )?(.+)$', severity: 1, message: 2 }] };
  expect(read({ ...some, severity: 'warning' }, ['x: a', 'x: error b'])).toEqual(['warning: a', 'error: b']);
  expect(read({ ...some, severity: 'error' }, ['x: a', 'x: warning b'])).toEqual(['error: a', 'warning: b']);
});

it('background patterns separate builds, and only the problems of the last build stay open', () => {
  proves('follow:matchers');
  const form = { ...one('^bad (.+)$'), background: { beginsPattern: '^begin', endsPattern: '^end' } };
  const { matchers, rounds } = matchersWith({ mine: form });
  const problems = new OpenProblems(matchers, { rounds });
  const open = (): readonly string[] => [...problems.open().values()].map(({ problem }) => problem.message);
  for (const line of ['begin', 'bad a', 'bad b', 'end']) problems.read(line);
  expect(open()).toEqual(['a', 'b']);
  for (const line of ['begin', 'bad b', 'end']) problems.read(line);
  expect(open()).toEqual(['b']);
  // A round of a shipped tool (tsc) does not change the problems of the user's tool.
  for (const line of [
    'a.ts(1,7): error TS2322: no.',
    'Starting incremental compilation',
    'Found 0 errors. Watching for file changes.',
  ])
    problems.read(line);
  expect(open()).toEqual(['b']);
});

it('a pattern that would need hours in a backtracking engine is matched at once', () => {
  proves('follow:matchers');
  const { matchers } = matchersWith({ mine: one('^((a+)+)+$') });
  const began = performance.now();
  expect(problemsIn([`${'a'.repeat(1_900)}!`], matchers)).toEqual([]);
  expect(performance.now() - began).toBeLessThan(5_000);
});

it.each([
  [one('('), 'matchers.x.pattern[0].regexp is "(": the pattern is not a regular expression'],
  [one('(?<=a)(b)'), 'lookahead and lookbehind are not supported'],
  [one('(.*)'), 'the pattern matches the empty text'],
  [one('(a)', { file: 2 }), 'matchers.x.pattern[0].file is 2, but regexp has 1 groups; write the number of a group'],
  [
    { ...one('(a)'), background: { beginsPattern: '[' } },
    'matchers.x.background.begins_pattern is "[": the pattern is not a regular',
  ],
])('the matcher %j is refused, and the error names the problem', (form, message) => {
  expect(() => matchersWith({ x: form })).toThrow(message);
});
