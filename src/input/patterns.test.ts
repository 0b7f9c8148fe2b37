import { describe, expect, it } from 'vitest';
import { proves } from '../../e2e/verifies.ts';
import { readPattern } from './index.ts';

const replaced = (source: string, text: string): string => {
  const read = readPattern(source);
  return read.kind === 'pattern' ? read.pattern.replaceAll(text, '[$1]') : read.problem;
};
const problemOf = (source: string): string | undefined => {
  const read = readPattern(source);
  return read.kind === 'problem' ? read.problem : undefined;
};

describe("a user's pattern", () => {
  proves('queue:patterns');
  it.each([
    ['sk-\\w{4,}', 'a sk-12345 b', 'a [$1] b'],
    ['(?<key>a)b', 'ab', '[$1]'],
    ['\\u{1F600}|\\u00e9', 'x😀é', 'x[$1][$1]'],
    ['\\uD83D\\uDE00', 'x😀', 'x[$1]'],
    ['key:\\s+\\w+', 'key:\u00A0\vabc.', '[$1].'],
    ['key:[\\s=]+\\w+', 'key:\u00A0= abc.', '[$1].'],
    ['\\S+@\\S+', 'at a@b\u00A0c', 'at [$1]\u00A0c'],
    ['[^\\s]+@x', 'at a@x\u00A0c', 'at [$1]\u00A0c'],
    ['\\p{Script=Greek}+', 'abγδ', 'ab[$1]'],
    ['\\p{gc=Lu}', 'aB', 'a[$1]'],
    ['a$', 'a\na', 'a\n[$1]'],
    ['\\\\s', 'a\\s b', 'a[$1] b'],
    ['[(?=]x', '(x=x', '[$1][$1]'],
    ['\\(\\?=', 'a(?=b', 'a[$1]b'],
    ['-----BEGIN [^-]+-----[^]+?-----END', 'a -----BEGIN KEY-----\nabc\n-----END b', 'a [$1] b'],
  ])('%s matches as in JavaScript', (source, text, expected) => {
    expect(replaced(source, text)).toBe(expected);
    expect(text.replaceAll(new RegExp(source, 'gu'), () => '[$1]')).toBe(expected);
  });

  it.each(['(?=a)b', '(?!a)b', '(?<=a)b', 'x(?<!a)b'])('%s is refused, and the error says what to write', (source) => {
    expect(problemOf(source)).toBe(
      'lookahead and lookbehind are not supported, since every pattern must run in linear time; match the surrounding text as well, or write one pattern for each case',
    );
  });

  it.each(['(a)\\1', '(?<n>a)b\\k<n>'])('%s is refused, because RE2 has no backreferences', (source) => {
    expect(problemOf(source)).toMatch(/^backreferences are not supported, .*write one pattern for each case$/u);
  });

  it.each([
    ['\\w{290,295}\\d{50}', 'has 352 instructions'],
    ['a'.repeat(400), 'has 402 instructions'],
    ['\\w{300}\\w{301}', 'asks for 601 repetitions'],
    ['a{2000}', 'asks for 2000 repetitions'],
    ['\\w{1,1000}'.repeat(90), 'asks for 90000 repetitions'],
  ])('%s is refused as too large, and the error names its size', (source, seen) => {
    expect(problemOf(source)).toBe(
      `the pattern ${seen}; write at most 300 instructions of RE2: fewer repetitions, such as {20,} instead of {500}, or a shorter text`,
    );
  });

  it.each([
    ['(', 'the pattern is not a regular expression of RE2 (missing closing )); correct the pattern'],
    ['x*', 'the pattern matches the empty text, and so every text; write + instead of *'],
    ['x'.repeat(1001), 'the pattern has 1001 characters; write at most 1000'],
  ])('%s is refused, and the error names the problem', (source, problem) => {
    expect(problemOf(source)).toBe(problem);
  });

  it.each(['(a+)+$', '(a|aa)+$', '(.*a){12}$', '^(([a-z])+.)+[A-Z]([a-z])+$'])(
    '%s does not backtrack on its worst text',
    (source) => {
      expect(replaced(source, `${'a'.repeat(20_000)}!`)).toHaveLength(20_001);
    },
  );
});
