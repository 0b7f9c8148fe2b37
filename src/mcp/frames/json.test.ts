import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  addElements,
  addMember,
  arrayAt,
  edited,
  isJson,
  member,
  objectAt,
  removeMembers,
  skipSpace,
  skipValue,
  stringAt,
  textOf,
  valueAt,
} from './json.ts';
import { proves } from '../../../e2e/verifies.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

/** Makes JSON text with random white space, escapes and duplicate keys, which `JSON.stringify` never prints. */
const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
const scalar = fc.oneof(
  fc.constantFrom(
    '1.0',
    '-0',
    '1e400',
    '9007199254740993',
    '1E+2',
    '0.10',
    'true',
    'false',
    'null',
    '"\\u0041"',
    '"\\ud800"',
    '"a\\"]}"',
  ),
  fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text)),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);
const key = fc.oneof(
  fc.constantFrom('"id"', '"\\u0069d"', '"result"', '"__proto__"', '""', '"ключ"'),
  fc.string().map((text) => JSON.stringify(text)),
);
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc
      .array(fc.tuple(space, tie('value'), space), { maxLength: 4 })
      .map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
    fc
      .array(fc.tuple(space, key, space, tie('value'), space), { maxLength: 4 })
      .map((items) => `{${items.map(([a, k, b, v, c]) => `${a}${k}${b}:${b}${v}${c}`).join(',')}}`),
  ),
}));
const document = fc.tuple(space, value, space).map((parts) => parts.join(''));

describe('finds what JSON.parse finds', () => {
  test('in any document, finds the same elements and the last member of each name', () => {
    fc.assert(
      fc.property(document, (text) => {
        const json = bytes(text);
        expect(isJson(json)).toBe(true);
        agrees(json, skipSpace(json, 0), JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  test('a damaged document is recognized, and found positions are inside it', () => {
    proves('gateway:fuzz');
    const damaged = fc
      .tuple(
        document,
        fc.nat(),
        fc.constantFrom('', '"', ',', '}', ']', '{', '[', ':', '\\', '0', '-', '.', 'e', 'u', '\n', '\u0001', 'nul'),
        fc.nat(3),
      )
      .map(([text, at, put, cut]) => {
        const position = at % (text.length + 1);
        return text.slice(0, position) + put + text.slice(position + cut);
      });
    fc.assert(
      fc.property(damaged, (text) => {
        // A lone surrogate becomes U+FFFD when the text is converted to bytes, so JSON.parse also gets U+FFFD.
        const json = bytes(text);
        expect(isJson(json)).toBe(parses(json.toString()));
        const start = skipSpace(json, 0);
        const found = objectAt(json, start) ?? arrayAt(json, start);
        if (found === undefined) return;
        expect(found.end).toBeLessThanOrEqual(json.length);
        expect(skipValue(json, start)).toBe(found.end);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each([
    ['', false],
    [' ', false],
    ['1.0', true],
    ['01', false],
    ['1.', false],
    ['.5', false],
    ['+1', false],
    ['-', false],
    ['1e', false],
    ['1e400', true],
    ['9007199254740993', true],
    ['"\\u0041"', true],
    ['"\\u00zz"', false],
    ['"\\x41"', false],
    ['"\n"', false],
    ['"\u007f\u2028"', true],
    ['"open', false],
    ['"\\', false],
    ['{"a":1,}', false],
    ['[1,]', false],
    ['[,1]', false],
    ['{,}', false],
    ['{"a"}', false],
    ['{a:1}', false],
    ['{"a":1}}', false],
    ['{"a":1} x', false],
    ['\ufeff{}', false],
    ['[1 2]', false],
    ['{"a":[}', false],
    ['[{]', false],
    ['tru', false],
    ['truee', false],
    ['NaN', false],
    ['// no\n1', false],
    ["{'a':1}", false],
  ])('%j', (text, accepted) => {
    expect(isJson(bytes(text))).toBe(accepted);
    expect(parses(text)).toBe(accepted);
  });

  test('a million open brackets crash nothing and take little time', () => {
    const depth = 1_000_000;
    for (const [json, sound] of [
      [bytes('['.repeat(depth)), false],
      [bytes('['.repeat(depth) + ']'.repeat(depth)), true],
    ] as const) {
      expect(skipValue(json, 0)).toBe(sound ? 2 * depth : -1);
      expect(isJson(json)).toBe(sound);
    }
  });

  test('long strings, and escapes anywhere in them, end where JSON.parse ends them', () => {
    const piece = fc.oneof(
      fc.constantFrom('\\\\', '\\"', '\\n', '\\u0041', 'é', '}'),
      fc.nat(70).map((length) => 'x'.repeat(length)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = `{"a":"${pieces.join('')}","b":7}`;
        JSON.parse(text);
        const json = bytes(text);
        expect(textOf(json, valueAt(json, 0, ['b'])!)).toBe('7');
      }),
      { numRuns: 2_000 },
    );
  });

  test('bytes in a string need not be UTF-8', () => {
    const json = Buffer.concat([bytes('{"a":"'), Buffer.from([0xff, 0xc3, 0x28]), bytes('","b":2}')]);
    expect(textOf(json, valueAt(json, 0, ['b'])!)).toBe('2');
  });
});

describe('edits', () => {
  test('a member is found by any spelling of its name, and the last member of a name counts', () => {
    const json = bytes('{"id":1, "\\u0069d" : [2] , "ID":3}');
    expect(textOf(json, member(json, objectAt(json, 0)!, 'id')!)).toBe('[2]');
    expect(valueAt(json, 0, ['id', 'x'])).toBeUndefined();
    expect(stringAt(bytes('"\\u0041\\n"'), { start: 0, end: 10 })).toBe('A\n');
  });

  test('an added member or element is parsed as such, and no other byte changes', () => {
    fc.assert(
      fc.property(document, (text) => {
        const json = bytes(text);
        const start = skipSpace(json, 0);
        const object = objectAt(json, start);
        const array = arrayAt(json, start);
        const edit = object ? addMember(object, 'added', '[1.0]') : array && addElements(array, ['1.0', '"x"']);
        if (edit === undefined) return;
        const changed = edited(json, [edit]);
        const put = edit.put as string;
        expect(changed.toString()).toBe(
          bytes(text).subarray(0, edit.at.start).toString() + put + bytes(text).subarray(edit.at.start).toString(),
        );
        const parsed = JSON.parse(changed.toString()) as unknown;
        if (Array.isArray(parsed)) expect(parsed.slice(-2)).toEqual([1, 'x']);
        else expect((parsed as { added: unknown }).added).toEqual([1]);
      }),
    );
  });

  test('removing a name removes each member of that name and nothing else', () => {
    fc.assert(
      fc.property(document, fc.constantFrom('id', 'result', 'ключ', ''), (text, name) => {
        const json = bytes(text);
        const object = objectAt(json, skipSpace(json, 0));
        if (object === undefined) return;
        const changed = edited(json, removeMembers(json, object, name)).toString();
        const expected = Object.entries(JSON.parse(text) as object).filter(([entry]) => entry !== name);
        expect(Object.entries(JSON.parse(changed) as object)).toEqual(expected);
        expect(changed.length <= json.toString().length).toBe(true);
      }),
    );
  });

  test.each([
    ['{"s":1}', '{}'],
    ['{ "s":1 , "a":2 }', '{ "a":2 }'],
    ['{"a":1.0 , "s":{"s":1} }', '{"a":1.0 }'],
    ['{"s":1,"a":2,"s":3,"b":4,"s":5}', '{"a":2,"b":4}'],
    ['{"s":1,"s":2}', '{}'],
    ['{"a":1}', '{"a":1}'],
  ])('%s without "s" is %s', (text, expected) => {
    const json = bytes(text);
    expect(edited(json, removeMembers(json, objectAt(json, 0)!, 's')).toString()).toBe(expected);
  });

  test('edits that overlap throw', () => {
    expect(() =>
      edited(bytes('abcdef'), [
        { at: { start: 0, end: 3 }, put: '' },
        { at: { start: 2, end: 4 }, put: '' },
      ]),
    ).toThrow('overlap');
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function agrees(json: Buffer, start: number, expected: unknown): void {
  if (Array.isArray(expected)) {
    const array = arrayAt(json, start);
    expect(array?.elements.length).toBe(expected.length);
    array!.elements.forEach((range, index) => agrees(json, range.start, expected[index]));
    return;
  }
  if (typeof expected === 'object' && expected !== null) {
    const object = objectAt(json, start);
    expect(object).toBeDefined();
    for (const [name, inner] of Object.entries(expected)) {
      const range = member(json, object!, name);
      expect(range, name).toBeDefined();
      expect(Object.is(JSON.parse(textOf(json, range!)), inner) || typeof inner === 'object').toBe(true);
      agrees(json, range!.start, inner);
    }
    return;
  }
  expect(objectAt(json, start)).toBeUndefined();
  expect(arrayAt(json, start)).toBeUndefined();
}
