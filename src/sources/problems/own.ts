/** Makes matchers from users' configuration. The patterns run in linear time. */
import { defined } from '../../core/defined.ts';
import { EarpieceError } from '../../core/errors.ts';
import { GROUPS, type LinePattern, type MatcherForm } from '../../core/matcher-form.ts';
import { readPattern, type Pattern } from '../../input/index.ts';
import type { Matcher, Rounds, Step } from './matcher.ts';
import { LINE_CHARS } from './reader.ts';
import { SHIPPED } from './shipped.ts';
import { ROUNDS } from './shipped-rounds.ts';

export type Matchers = { readonly matchers: readonly Matcher[]; readonly rounds: Readonly<Record<string, Rounds>> };

/**
 * Returns the matchers of these forms, by name, followed by the shipped matchers. Throws `bad_config` with the key of an invalid
 * pattern.
 */
export function matchersWith(forms: Readonly<Record<string, MatcherForm>>): Matchers {
  const own = Object.entries(forms).map(([name, form]) => ({ name, ...made(name, form) }));
  return {
    matchers: [...own.map(({ matcher }) => matcher), ...SHIPPED],
    rounds: {
      ...ROUNDS,
      ...Object.fromEntries(own.flatMap(({ name, rounds }) => (rounds === undefined ? [] : [[name, rounds]]))),
    },
  };
}

function made(name: string, form: MatcherForm): { readonly matcher: Matcher; readonly rounds?: Rounds } {
  const key = `matchers.${name}`;
  const [first, ...more] = form.pattern.map((line, i) => stepOf(line, `${key}.pattern[${i}]`));
  if (first === undefined) throw wrong(`${key}.pattern`, 'is empty');
  const matcher: Matcher = { tool: name, steps: [first, ...more], ...defined({ severity: form.severity }) };
  if (form.background === undefined) return { matcher };
  const { beginsPattern, endsPattern } = form.background;
  const rounds: Rounds = {
    ...(beginsPattern === undefined ? {} : { begins: lineTest(compiled(beginsPattern, `${key}.background.begins_pattern`)) }),
    ...(endsPattern === undefined ? {} : { ends: lineTest(compiled(endsPattern, `${key}.background.ends_pattern`)) }),
  };
  return { matcher, rounds };
}

function stepOf(line: LinePattern, key: string): Step {
  const pattern = compiled(line.regexp, `${key}.regexp`);
  const parts = GROUPS.flatMap((part) => {
    const group = line[part];
    if (group === undefined) return [];
    if (group > pattern.groups)
      throw wrong(`${key}.${part}`, `is ${group}, but regexp has ${pattern.groups} groups; write the number of a group`);
    return [[part, group] as const];
  });
  return {
    match: (text) => {
      const found = pattern.find(text);
      if (found === undefined) return undefined;
      return Object.fromEntries(
        parts.flatMap(([part, group]) => (found[group] === undefined ? [] : [[part, found[group]] as const])),
      );
    },
    ...(line.loop === true ? { loop: true as const } : {}),
  };
}

/**
 * Returns an object that tests lines with the user's pattern, to find the beginning and the end of rounds. A very long line is
 * cut, as for other patterns.
 */
const lineTest = (pattern: Pattern): Pick<RegExp, 'test'> => ({ test: (line) => pattern.test(line.slice(0, LINE_CHARS)) });

function compiled(source: string, key: string): Pattern {
  const read = readPattern(source);
  if (read.kind === 'problem') throw wrong(key, `is ${JSON.stringify(source.slice(0, 200))}: ${read.problem}`);
  return read.pattern;
}

const wrong = (key: string, problem: string): EarpieceError => new EarpieceError('bad_config', `${key} ${problem}`);
