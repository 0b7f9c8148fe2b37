import { expect, test } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { world } from './fixtures.ts';
import { checkConfigText, formatProblem, trustBook } from './index.ts';

const problemsOf = (text: string): readonly string[] => checkConfigText(text, 'x').problems.map(formatProblem);

test('a matcher may have patterns for several lines or for a single line', () => {
  const { read } = world({
    user: `[matchers.lint]
severity = "warning"
pattern = [
  { regexp = '^(\\S+)$', file = 1 },
  { regexp = '^ +(\\d+) (.+)$', line = 1, message = 2, loop = true },
]
[matchers.one]
pattern = { regexp = 'ERROR .+', message = 0 }
background = { ends_pattern = '^done' }`,
  });
  const { config, problems } = read();
  expect(problems).toEqual([]);
  expect(config.matchers).toEqual({
    lint: {
      severity: 'warning',
      pattern: [
        { regexp: String.raw`^(\S+)$`, file: 1 },
        { regexp: String.raw`^ +(\d+) (.+)$`, line: 1, message: 2, loop: true },
      ],
    },
    one: { pattern: [{ regexp: 'ERROR .+', message: 0 }], background: { endsPattern: '^done' } },
  });
});

test('a matcher from a cloned repository waits for trust', () => {
  proves('config:trust');
  const { read, projectFile, options } = world({ project: "[matchers.one]\npattern = { regexp = 'E (.+)', message = 1 }" });
  expect(read().config.matchers).toEqual({});
  expect(read().config.untrusted.map(({ what }) => what)).toEqual([
    ['matchers.one (decides which output lines are reported to agents as errors)'],
  ]);
  trustBook(options()).trust(projectFile);
  expect(Object.keys(read().config.matchers)).toEqual(['one']);
});

test.each([
  ['matchers.a = 3', 'x:1:14: matchers.a is 3; write a table with the key pattern'],
  ['[matchers.a]', 'x:1:11: matchers.a has no pattern; write a table such as { regexp = '],
  ['[matchers.a]\npatern = 1', 'x:2:1: matchers.a.patern is unknown; did you mean "pattern"?'],
  ['[matchers.a]\npattern = []', 'x:2:11: matchers.a.pattern has 0 elements; write a table such as'],
  [
    `[matchers.a]\npattern = [${Array(11).fill("{ regexp = '(x)', message = 1 }").join(', ')}]`,
    'x:2:11: matchers.a.pattern has 11 elements; write a table such as',
  ],
  ["[matchers.a]\npattern = 'x'", 'x:2:11: matchers.a.pattern is "x"; write a table such as'],
  ['[matchers.a]\npattern = { message = 1 }', 'matchers.a.pattern has no regexp; write a regular expression such as'],
  ["[matchers.a]\npattern = { regexp = '(x)', file = 1 }", 'matchers.a.pattern has no message; write message = 1, the group of'],
  [
    "[matchers.a]\npattern = { regexp = '(x)', message = 'a' }",
    'x:2:39: matchers.a.pattern.message is "a"; write a whole number from 0 to 99',
  ],
  [
    "[matchers.a]\npattern = { regexp = '(x)', message = 1, loop = true }",
    'loop is allowed only in the last of several patterns',
  ],
  [
    "[matchers.a]\npattern = { regexp = '(x)', message = 1 }\nseverity = 'bad'",
    'x:3:12: matchers.a.severity is "bad"; write one of error, warning',
  ],
  [
    "[matchers.a]\npattern = { regexp = '(x)', message = 1 }\nbackground = {}",
    'matchers.a.background is empty; write a table with begins_pattern, ends_pattern or both',
  ],
  ["[matchers.'a b']\npattern = { regexp = '(x)', message = 1 }", 'is not a valid name of a matcher: letters'],
])('%j is reported with its key, its value and what to do', (text, problem) => {
  expect(problemsOf(text).join('\n')).toContain(problem);
  expect(problemsOf(text)).toHaveLength(1);
});
