import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { appendJson, jsonAt, removeJson, setJson, type JsonPath } from './edit-json.ts';
import type { Edited } from './edit.ts';
import { formatProblem } from './problems.ts';

const textOf = (edited: Edited): string => (edited.kind === 'text' ? edited.text : `! ${formatProblem(edited.problem)}`);
const set = (text: string, path: string[], value: unknown): string => textOf(setJson(text, path, value, 'f.json'));
const append = (text: string, path: string[], value: unknown): string => textOf(appendJson(text, path, value, 'f.json'));
const remove = (text: string, path: JsonPath): string => textOf(removeJson(text, path, 'f.json'));

const PERSONS = `// Mine.
{
    "model": "opus", // the large one
    "hooks": {
        /* what runs */
        "Stop": [
            { "hooks": [{ "type": "command", "command": "say done" }] },
        ],
    },
    "last": 1 // no comma
    // the end
}
`;

describe('a member is added and nothing else changes', () => {
  test.each([
    ['', '{\n  "a": {\n    "b": 1\n  }\n}\n'],
    ['{}', '{\n  "a": {\n    "b": 1\n  }\n}'],
    ['\ufeff{}\r\n', '\ufeff{\r\n  "a": {\r\n    "b": 1\r\n  }\r\n}\r\n'],
    ['{"x": 1}', '{"x": 1,\n  "a": {\n    "b": 1\n  }\n}'],
    ['{\n\t"x": 1\n}', '{\n\t"x": 1,\n\t"a": {\n\t\t"b": 1\n\t}\n}'],
    ['{\n  "x": 1,\n}', '{\n  "x": 1,\n  "a": {\n    "b": 1\n  },\n}'],
    ['{\n  "x": 1 // one\n}', '{\n  "x": 1, // one\n  "a": {\n    "b": 1\n  }\n}'],
    ['{\n  // none yet\n}', '{\n  // none yet\n  "a": {\n    "b": 1\n  }\n}'],
  ])('%j', (before, after) => expect(set(before, ['a', 'b'], 1)).toBe(after));

  test('a new member follows the comment of the last member', () =>
    expect(set(PERSONS, ['mine'], true)).toBe(
      PERSONS.replace('"last": 1 // no comma\n', '"last": 1, // no comma\n    "mine": true\n'),
    ));

  test('a list gets one more element', () =>
    expect(append(PERSONS, ['hooks', 'Stop'], { x: 1 })).toBe(
      PERSONS.replace('done" }] },\n', 'done" }] },\n            {\n                "x": 1\n            },\n'),
    ));

  test('a missing list is created', () =>
    expect(jsonAt(append(PERSONS, ['hooks', 'Start'], 1), ['hooks'])).toMatchObject({ Start: [1] }));
});

describe('an added value can be removed again', () => {
  test.each([PERSONS, '{"x": 1}', '{\n\t"x": 1\n}', '{\n  "x": 1,\n}', '{\r\n  "x": 1 // one\r\n}\r\n', '{}'])('%j', (text) => {
    const there = set(text, ['ours'], { some: ['thing'] });
    expect(there).not.toBe(text);
    expect(remove(there, ['ours']).replace(/\n\}$/u, '}')).toBe(text.replace(/\n\}$/u, '}'));
  });

  test('an element that was added to a list can be removed again', () =>
    expect(remove(append(PERSONS, ['hooks', 'Stop'], 'x'), ['hooks', 'Stop', 1])).toBe(PERSONS));

  test('removing a missing value changes nothing', () => expect(remove(PERSONS, ['hooks', 'Start', 3])).toBe(PERSONS));
});

describe('a text that cannot be changed is reported with its place', () => {
  test.each([
    [
      '{ "a": ',
      '! f.json:1:8: is not valid JSON: expected a value, found the end of the file; repair the file, then run the command again',
    ],
    ['[1]', '! f.json:1:1: is a list; write an object'],
    ['{"a": []}', '! f.json:1:7: a.b cannot be changed because of the existing value; change the file by hand'],
    [
      '{"a": {"b": 1}, "a": {}, "a": 3}',
      '! f.json:1:31: a.b cannot be changed because of the existing value; change the file by hand',
    ],
  ])('%j', (text, told) => expect(set(text, ['a', 'b'], 1)).toBe(told));
});

const name = fc.constantFrom('a', 'b', 'c', 'ours', 'd"e');
const json = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, fc.constantFrom(1, 'x', null, true), tie('list'), tie('table')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  table: fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
}));
const blank = fc.constantFrom('', ' ', '\n', ' // x\n', '/* y */', '\r\n\t');

/** Formats a value as JSON, with random white space and comments between its tokens. */
const sprinkled = (value: unknown, parts: readonly string[]): string => {
  let i = 0;
  const gap = (): string => parts[i++ % parts.length] ?? '';
  return JSON.stringify(value)
    .split(/("(?:[^"\\]|\\.)*"|[{}[\],:])/u)
    .filter((part) => part !== '')
    .map((part) => gap() + part)
    .join('');
};

test('in any text a value can be set, and the removal of a new member restores the content', () => {
  fc.assert(
    fc.property(
      json.table,
      fc.array(blank, { minLength: 1, maxLength: 9 }),
      fc.array(name, { minLength: 1, maxLength: 3 }),
      (value, parts, path) => {
        const text = `${sprinkled(value, parts)}\n`;
        const there = setJson(text, path, 'new', 'f');
        if (there.kind === 'problem') return; // The path contains a value that is not an object.
        expect(jsonAt(there.text, path)).toBe('new');
        if (jsonAt(text, path.slice(0, -1)) === undefined || jsonAt(text, path) !== undefined) return;
        expect(jsonAt(remove(there.text, path), [])).toEqual(value);
      },
    ),
    { numRuns: 500 },
  );
});
