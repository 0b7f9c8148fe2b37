/**
 * Reads users' problem matchers from the configuration. The regular expressions are compiled only at their first use, because
 * almost every process reads the configuration.
 */
import { defined } from '../core/defined.ts';
import { MATCHER_SEVERITIES, type BackgroundForm, type LinePattern, type MatcherForm } from '../core/matcher-form.ts';
import { fields, isTable } from './servers.ts';
import { boolean, integer, oneOf, problem, refuse, text, value, type Read, type Value } from './values.ts';

const MAX_LINES = 10;

const LINE = {
  regexp: text('a regular expression such as "^(.+):(\\\\d+): (.+)$"'),
  file: group(1),
  line: group(1),
  column: group(1),
  severity: group(1),
  code: group(1),
  message: group(0),
  loop: boolean(),
} as const;

const BACKGROUND = {
  begins_pattern: text('a regular expression for the line at which a build begins'),
  ends_pattern: text('a regular expression for the line at which a build ends'),
} as const;

const MATCHER = { severity: oneOf(MATCHER_SEVERITIES), pattern: patternValue(), background: backgroundValue() } as const;

const EXPECTS = 'a table with the key pattern';

export function matcher(): Value<MatcherForm> {
  return {
    read: (raw) => {
      if (!isTable(raw)) return refuse(raw, EXPECTS);
      const read = fields(raw, MATCHER);
      if (read.kind === 'problems') return read;
      const { severity, pattern, background } = read.value;
      if (pattern === undefined) return problem(`has no pattern; write ${MATCHER.pattern.expects}`);
      return value({ pattern, ...defined({ severity, background }) });
    },
    fromText: (line) => refuse(line, 'matchers into earpiece.toml'),
    show: ({ pattern }) => pattern.map(({ regexp }) => JSON.stringify(regexp)).join(', '),
    expects: EXPECTS,
    takesTable: true,
  };
}

/** Makes the type of a setting that is the number of a group in `regexp`. */
function group(min: 0 | 1): Value<number> {
  return { ...integer({ min, max: 99 }), expects: `the number of a group of regexp, from ${min} to 99` };
}

function patternValue(): Value<readonly LinePattern[]> {
  const expects = `a table such as { regexp = "^(.+):(\\\\d+): (.+)$", file = 1, line = 2, message = 3 }, or a list of 1 to ${MAX_LINES} such tables for consecutive lines`;
  return {
    read: (raw): Read<readonly LinePattern[]> => {
      const isList = Array.isArray(raw);
      const tables: readonly unknown[] = isList ? raw : [raw];
      if (tables.length === 0 || tables.length > MAX_LINES) return problem(`has ${tables.length} elements; write ${expects}`);
      const lines: LinePattern[] = [];
      for (const [i, table] of tables.entries()) {
        const at = isList ? [i] : [];
        if (!isTable(table)) return problem(`is ${JSON.stringify(table)?.slice(0, 80)}; write ${expects}`, at);
        const read = fields(table, LINE);
        if (read.kind === 'problems')
          return { kind: 'problems', problems: read.problems.map((one) => ({ ...one, at: [...at, ...(one.at ?? [])] })) };
        const { regexp, loop, ...groups } = read.value;
        if (regexp === undefined) return problem(`has no regexp; write ${LINE.regexp.expects}`, at);
        if (loop === true && (i === 0 || i < tables.length - 1))
          return problem('is allowed only in the last of several patterns', [...at, 'loop'], 'key');
        lines.push({ regexp, ...defined(groups), ...defined({ loop }) });
      }
      if (lines.every(({ message }) => message === undefined))
        return problem('has no message; write message = 1, the group of regexp with the text, or 0 for the whole match');
      return value(lines);
    },
    fromText: (line) => refuse(line, expects),
    show: (lines) => lines.map(({ regexp }) => regexp).join(', '),
    expects,
  };
}

function backgroundValue(): Value<BackgroundForm> {
  const expects = 'a table with begins_pattern, ends_pattern or both';
  return {
    read: (raw) => {
      if (!isTable(raw)) return refuse(raw, expects);
      const read = fields(raw, BACKGROUND);
      if (read.kind === 'problems') return read;
      const { begins_pattern: beginsPattern, ends_pattern: endsPattern } = read.value;
      if (beginsPattern === undefined && endsPattern === undefined) return problem(`is empty; write ${expects}`);
      return value(defined({ beginsPattern, endsPattern }));
    },
    fromText: (line) => refuse(line, expects),
    show: (background) => Object.keys(background).join(', '),
    expects,
  };
}
