import fc from 'fast-check';
import { parse, stringify } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { joinKey, pathKey, scanToml, splitKey } from './positions.ts';

const at = (text: string, ...path: (string | number)[]): string | undefined => {
  const place = scanToml(text).get(pathKey(path));
  return place && `${place.key.line}:${place.key.column} ${place.value.line}:${place.value.column}`;
};

describe('finds the place of each key', () => {
  const cases: [string, string, (string | number)[], string][] = [
    ['a pair', 'a = 1', ['a'], '1:1 1:5'],
    ['behind a byte order mark', '\ufeffa = 1', ['a'], '1:2 1:6'],
    ['after Windows line ends', 'a = 1\r\n\r\nb = 2\r\n', ['b'], '3:1 3:5'],
    ['in a table', '[x]\n  a = 1', ['x', 'a'], '2:3 2:7'],
    ['a header', '# hello\n[x.y]', ['x', 'y'], '2:4 2:4'],
    ['a dotted key', '[x]\na . b = 1', ['x', 'a', 'b'], '2:5 2:9'],
    ['quoted keys', '[x]\n"a.b"."c\\"\\u00e9" = 1', ['x', 'a.b', 'c"é'], '2:7 2:21'],
    ['a quoted header', '[ \'a]b\' . "#" ]\nc = 1', ['a]b', '#', 'c'], '2:1 2:5'],
    ['behind strings that look like TOML', 'a = "[b] # \\" x = 1"\nb = \'\\\'\nc = 1', ['c'], '3:1 3:5'],
    ['behind a multi-line string', 'a = """\n[x]\nb = 1 \\"""\n"""""\nb = 2', ['b'], '5:1 5:5'],
    ['behind a multi-line literal', "a = '''\n[x]\n'''''\nb = 2", ['b'], '4:1 4:5'],
    ['in an inline table', 'a = { b = 1, "c d" = { e = 2 } }', ['a', 'c d', 'e'], '1:24 1:28'],
    ['in an inline table of several lines', 'a = {\n  b = 1, # }\n  c = 2,\n}', ['a', 'c'], '3:3 3:7'],
    ['an element', 'a = [\n  1, # ]\n  [2, "]"],\n  3,\n]', ['a', 2], '4:3 4:3'],
    ['an element behind quotes in a string', 'a = ["""x""""", 3]', ['a', 1], '1:17 1:17'],
    ['an element of an element', 'a = [[1], [2, 3]]', ['a', 1, 1], '1:15 1:15'],
    ['a table in a list', 'a = [{ b = 1 }, { b = 2 }]', ['a', 1, 'b'], '1:19 1:23'],
    ['an array of tables', '[[a]]\nb = 1\n[[a]]\nb = 2', ['a', 1, 'b'], '4:1 4:5'],
    ['a table below an array of tables', '[[a]]\n[a.c]\nb = 1\n[[a]]\n[a.c]\nb = 2', ['a', 1, 'c', 'b'], '6:1 6:5'],
    ['dates and times', 'a = 1979-05-27 07:32:00\nb = 1', ['b'], '2:1 2:5'],
  ];
  test.each(cases)('%s', (_name, text, path, expected) => {
    parse(text);
    expect(at(text, ...path)).toBe(expected);
  });

  test('finds every scalar of any document that the parser accepts', () => {
    const key = fc.oneof(
      fc.stringMatching(/^[a-z]{1,3}$/),
      fc.string({ maxLength: 4 }).filter((name) => name.isWellFormed()),
    );
    const scalar = fc.oneof(
      fc.integer(),
      fc.boolean(),
      fc.string({ maxLength: 8 }).filter((words) => words.isWellFormed()),
    );
    const { table } = fc.letrec<{ table: Record<string, unknown>; value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 3 },
        scalar,
        tie('table'),
        fc.array(scalar, { maxLength: 3 }),
        fc.array(tie('table'), { maxLength: 3 }),
      ),
      table: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
    }));
    fc.assert(
      fc.property(table, (document) => {
        const text = stringify(document);
        const places = scanToml(text);
        const lines = text.split('\n');
        const visit = (value: unknown, path: (string | number)[]): void => {
          if (Array.isArray(value)) return value.forEach((element, i) => visit(element, [...path, i]));
          if (typeof value === 'object' && value !== null)
            return Object.entries(value).forEach(([name, inner]) => visit(inner, [...path, name]));
          const place = places.get(pathKey(path));
          const shown = stringify({ v: value }).slice('v = '.length).trimEnd();
          const line = lines[(place?.value.line ?? 0) - 1] ?? '';
          expect(line.slice((place?.value.column ?? 0) - 1).startsWith(shown), `${pathKey(path)} in\n${text}`).toBe(true);
        };
        visit(parse(text), []);
      }),
      { numRuns: 300 },
    );
  });

  test('no text makes the scan throw or run forever', () => {
    const noise = fc.array(
      fc.constantFrom(
        '[',
        ']',
        '{',
        '}',
        '"',
        "'",
        '"""',
        "'''",
        '\\',
        '\\u12',
        '\\UFFFFFFFF',
        '=',
        '.',
        ',',
        '#',
        '\n',
        '\r\n',
        ' ',
        'a',
        '1',
        'é',
        '\ud800',
      ),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(
        fc.oneof(
          noise.map((parts) => parts.join('')),
          fc.string({ unit: 'binary' }),
        ),
        (text) => {
          for (const place of scanToml(text).values()) expect(place.key.line).toBeGreaterThan(0);
        },
      ),
      { numRuns: 2_000 },
    );
    scanToml('a = ' + '['.repeat(100_000));
    scanToml(`${'#'.repeat(500_000)}\n${' \n'.repeat(200_000)}a=1`);
  });
});

describe('keys as text', () => {
  test.each([
    ['a.b', ['a', 'b']],
    [' a . "b.c" ', ['a', 'b.c']],
    ["'a\"b'.c", ['a"b', 'c']],
    ['', undefined],
    ['a.', undefined],
    ['a..b', undefined],
    ['.a', undefined],
    ['a b', undefined],
    ['"a', undefined],
    ['a = 1', undefined],
  ])('%j', (text, parts) => expect(splitKey(text)).toEqual(parts));

  test('a joined key is split into the same parts', () => {
    const path = fc.array(fc.string(), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(path, (parts) => {
        expect(splitKey(joinKey(parts))).toEqual(parts);
      }),
    );
  });
});
